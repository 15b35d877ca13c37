/** Numbers of a column. */
export type Column = ArrayLike<number>;
/** Predictors: a column, or rows of several predictors. */
export type Predictors = Column | ArrayLike<ArrayLike<number>>;
/** Values of parameters, by name or in order. */
export type ByParameter<V> = Record<string, V> | readonly V[];
/** Lower and upper bound; `null` for none. */
export type Bounds = readonly [number | null, number | null];
export type Loss = 'linear' | 'soft_l1' | 'huber' | 'cauchy' | 'arctan' | 'tukey' | (string & {});
/** A function of the predictor (an array, if there are several) and the parameters. */
export type ModelFunction = (x: any, ...parameters: any[]) => any;

/** One of the three says what is fitted. */
export interface ModelChoice {
  /** Name of a model of the library, such as `gaussian`, or a sum such as `gaussian+linear`; or a function. */
  model?: string | ModelFunction;
  /** Formula in `x` (or `x1`, `x2`, …) and parameters, such as `a*exp(-k*x)+c`. */
  formula?: string;
  function?: ModelFunction;
  /** Names of the parameters of a function; those of its arguments unless given. */
  parameters?: readonly string[];
  /** Names of the predictors in a formula. */
  predictors?: readonly string[];
}

export interface ParameterOptions {
  /** Starts; the others are guessed from the data. */
  start?: ByParameter<number>;
  bounds?: ByParameter<Bounds>;
  /** Parameters that are not fitted: names, or names with values. */
  fixed?: readonly string[] | Record<string, number | null>;
  /** Parameters that follow from others by a formula. */
  tie?: Record<string, string>;
  /** Linear inequalities such as `c1 < c2`. */
  constrain?: readonly string[];
  /** Mean and standard deviation of Gaussian priors. */
  prior?: Record<string, readonly [number, number]>;
}

export interface MethodOptions {
  /** Sigma is the standard deviation itself; without this, only its ratios count. */
  absoluteSigma?: boolean;
  /** The responses are counts: maximises the Poisson likelihood. */
  counts?: boolean;
  /** Robust loss. */
  loss?: Loss;
  robust?: Loss | true;
  fScale?: number;
  /** Number of starts within bounds or `range`. */
  multiStart?: number | true;
  range?: Record<string, Bounds>;
  seed?: number;
  /** False keeps the first result, even if it is bad. */
  retry?: boolean;
  variableProjection?: boolean;
  damping?: 'gain-ratio' | 'trust-region' | 'marquardt' | 'delayed-gratification';
  acceleration?: 'never' | 'curved' | 'always';
  scaling?: 'identity' | 'marquardt' | 'running-maximum' | 'fading-maximum';
  ftol?: number;
  xtol?: number;
  gtol?: number;
  maxIterations?: number;
  maxEvaluations?: number;
}

export interface Progress {
  /** Steps of a fit, or fits that are done. */
  done: number;
  total?: number;
  cost?: number;
}

export interface Watching {
  /** Ends the work. The module works on the calling thread, and looks at the signal at each step; in a worker, the signal ends it at once. */
  signal?: AbortSignal;
  /** Hears of progress; returning `false` ends the work. */
  onProgress?: (progress: Progress) => boolean | void;
}

export interface FitOptions extends ModelChoice, ParameterOptions, MethodOptions, Watching {
  x: Predictors;
  y: Column;
  /** Standard deviations of `y`, or one for all. */
  sigma?: Column | number;
  weights?: Column | number;
  /** Standard deviations of the predictors. */
  sigmaX?: Predictors | number;
  effectiveVariance?: boolean;
  /** Quantities that are computed from parameters, such as `{ half_life: 'ln(2)/k' }`. */
  derive?: Record<string, string>;
  /** Leaves outliers out, at a false discovery rate. */
  outliers?: number | true;
}

export interface Parameter {
  value: number;
  standardError: number;
  state: 'free' | 'fixed' | 'tied' | 'at lower bound' | 'at upper bound' | 'undetermined';
}

export interface Band {
  value: Float64Array;
  standardError: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

export interface Estimate {
  value: number;
  standardError: number;
  low: number;
  high: number;
}

export class Fit {
  private constructor();
  readonly names: string[];
  readonly values: Float64Array;
  readonly standardErrors: Float64Array;
  readonly states: Parameter['state'][];
  readonly parameters: Record<string, Parameter>;
  readonly converged: boolean;
  /** Nothing can be concluded from the fit; the warnings say why. */
  readonly unusable: boolean;
  readonly status: string;
  readonly iterations: number;
  readonly evaluations: number;
  readonly jacobianEvaluations: number;
  readonly degreesOfFreedom: number;
  readonly chiSquare: number;
  /** How the model was taken: by name, as a formula, as a function whose calls were recorded or whose text is a formula, or by differences. */
  readonly how: 'model' | 'formula' | 'recorded' | 'source' | 'differences';
  readonly formula: string | null;
  /** The report as `marquardt fit --json` writes it. */
  readonly summary: Record<string, any>;
  readonly warnings: string[];
  readonly rSquared: number | null;
  readonly residualStandardDeviation: number | null;
  readonly derived: Record<string, any>[];
  readonly criteria: { aic: number; aicc: number; bic: number; parameters: number };
  readonly covariance: number[][];
  readonly correlation: number[][];
  readonly fitted: Float64Array;
  /** Fitted responses minus observed ones. */
  readonly residuals: Float64Array;
  readonly whitenedResiduals: Float64Array;
  value(name: string): number;
  predict(x: Predictors | number): Float64Array;
  confidenceBand(x: Predictors | number, level?: number): Band;
  predictionBand(x: Predictors | number, level?: number): Band;
  interval(name: string, level?: number): [number, number];
  profile(name: string, options?: { level?: number; points?: number }): { low: number; high: number; lowEnd: string; highEnd: string; values: Float64Array; tau: Float64Array };
  bootstrap(replicates?: number, options?: { seed?: number; level?: number }): { parameters: { name: string; standardError: number; low: number; high: number }[]; failed: number };
  derive(formula: string, level?: number): Estimate;
  xFor(responses: Column | number, level?: number): { x: number; standardError: number; low: number; high: number }[];
  toJSON(): Record<string, any>;
  toString(): string;
  free(): void;
}

export interface ManyOptions extends ModelChoice, Omit<ParameterOptions, 'start'>, MethodOptions, Watching {
  /** Predictors that all fits share. */
  x: Predictors;
  /** A row for each fit. */
  y: Column | ArrayLike<ArrayLike<number>>;
  /** Number of fits, if `y` is one array. */
  fits?: number;
  /** Start of all fits, or a row for each; guessed for each fit unless given. */
  start?: Record<string, number> | Column | ArrayLike<ArrayLike<number>>;
  sigma?: Column | number | ArrayLike<ArrayLike<number>>;
  omitMissing?: boolean;
}

export interface ManyFits {
  names: string[];
  count: number;
  /** Row by row. */
  parameters: Float64Array;
  standardErrors: Float64Array;
  cost: Float64Array;
  converged: boolean[];
  convergedCount: number;
  iterations: Float64Array;
  degreesOfFreedom: Float64Array;
  failures: { index: number; reason: string }[];
  parametersOf(fit: number): Float64Array;
  standardErrorsOf(fit: number): Float64Array;
}

export interface Compared {
  name: string;
  fit?: Fit;
  error?: Error;
  converged?: boolean;
  aicc?: number;
  bic?: number;
  parameters?: number;
  /** AICc minus that of the best. */
  difference?: number;
  weight?: number;
}

export interface Model {
  name: string;
  parameters: string[];
  formula: string;
  predictors: string[];
  isReparameterized: boolean;
  derived: string[];
}

export interface TableColumn {
  name: string;
  /** Name with the unit. */
  label: string;
  /** The first rows. */
  texts: string[];
  numbers: Float64Array | null;
  missing?: number;
  distinct?: number;
  origin?: string | null;
  /** Reason why the column has no numbers. */
  problem?: string | null;
  notes: string[];
}

export interface Table {
  rows: number;
  columns: TableColumn[];
  notes: string[];
  /** Lines of the rows. */
  lines: Float64Array;
  isWide: boolean;
  source: string;
}

export type Data = string | Uint8Array | ArrayBuffer;
/** Options of `marquardt fit` by their names, in camel case or with hyphens. */
export type TableOptions = Record<string, any> & Watching & {
  name?: string;
  /** Forms of the report that the answer has; all by default. */
  formats?: readonly ('json' | 'text' | 'markdown' | 'csv')[];
};

export function fit(options: FitOptions): Promise<Fit>;
export function fitMany(options: ManyOptions): Promise<ManyFits>;
export function compare(options: Omit<FitOptions, keyof ModelChoice> & { models?: readonly (string | ModelFunction | (ModelChoice & { name?: string }))[] }): Promise<Compared[]>;
export function models(): Promise<Model[]>;
export function parseFormula(formula: string, predictors?: readonly string[]): Promise<{ parameters: string[]; predictors: string[] }>;
export function evaluate(options: { model?: string; formula?: string; predictors?: readonly string[]; x: Predictors | number; parameters: ByParameter<number> }): Promise<Float64Array>;
export function parseTable(data: Data, options?: TableOptions): Promise<Table>;
export function fitTable(data: Data | null, options?: TableOptions): Promise<Record<string, any>>;
export function compareTable(data: Data, options?: TableOptions): Promise<Record<string, any>>;
export function guessTable(data: Data, options?: TableOptions): Promise<Record<string, any>>;
/**
 * Sets where the module comes from, and where its second part does, which is loaded when it is needed; both are found beside the package unless
 * said otherwise, and the second part beside the first, if that is a URL.
 */
export function setModule(from: string | URL | BufferSource | Response | WebAssembly.Module | Promise<any> | null, rest?: string | URL | BufferSource | WebAssembly.Module | null): void;
/** Loads the second part of the module, so that nothing has to wait for it later. */
export function prepare(): Promise<void>;

/** An error of the data, the model or the options. */
export class FitError extends Error {}
/** A text is no formula. */
export class FormulaError extends FitError {
  /** Number of the character, counted from 1. */
  readonly position: number;
}
/** A fault of the engine itself. */
export class EngineError extends Error {}

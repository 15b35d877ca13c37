import type { Data, ManyFits, ManyOptions, Model, Table, TableOptions, compareTable, evaluate, fitTable, guessTable, parseFormula } from './index.js';

/** Functions of the package in a thread of their own. */
export interface FitWorker {
  fitTable: typeof fitTable;
  compareTable: typeof compareTable;
  guessTable: typeof guessTable;
  parseTable(data: Data, options?: TableOptions): Promise<Table>;
  fitMany(options: ManyOptions): Promise<Omit<ManyFits, 'parametersOf' | 'standardErrorsOf'>>;
  evaluate: typeof evaluate;
  models(): Promise<Model[]>;
  parseFormula: typeof parseFormula;
  terminate(): Promise<void>;
}
export function createWorker(url?: URL): FitWorker;

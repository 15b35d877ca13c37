/** Of each model: its family, words by which it is found, parameters of its picture, and the range of the picture. */
const PICTURES = {
  constant: ['Lines', 'mean level', [1], 0, 1], linear: ['Lines', 'straight line calibration', [1, 0.2], 0, 1], quadratic: ['Lines', 'parabola polynomial 2', [1, -1, 0.5], 0, 1.4],
  exponential_decay: ['Exponentials', 'first order half-life lifetime', [1, 1], 0, 4], exponential_decay_offset: ['Exponentials', 'first order half-life lifetime baseline', [1, 0.8, 0.3], 0, 4],
  exponential_rise: ['Exponentials', 'saturation charging', [1, 1], 0, 4], exponential_rise_offset: ['Exponentials', 'saturation charging baseline', [1, 0.8, 0.3], 0, 4],
  bi_exponential: ['Exponentials', 'two lifetimes', [0.7, 0.4, 0.4, 3], 0, 5], stretched_exponential: ['Exponentials', 'Kohlrausch relaxation', [1, 1, 0.5], 0.001, 4],
  power_law: ['Powers and logarithms', 'allometry scaling', [1, 0.5], 0.001, 4], power_law_offset: ['Powers and logarithms', 'allometry scaling', [1, 1.6, 0.6], 0.001, 2], logarithmic: ['Powers and logarithms', 'log', [0.5, 1], 0.05, 5],
  gaussian: ['Peaks', 'normal bell spectrum', [1, 0, 1], -4, 4], lorentzian: ['Peaks', 'Cauchy resonance spectrum', [1, 0, 0.6], -4, 4], voigt: ['Peaks', 'spectrum line broadening', [1, 0, 0.5, 0.5], -4, 4],
  pseudo_voigt: ['Peaks', 'spectrum diffraction', [1, 0, 0.7, 0.5], -4, 4], moffat: ['Peaks', 'star seeing', [1, 0, 1, 1.5], -4, 4], breit_wigner: ['Peaks', 'Fano resonance', [1, 0, 1.5, 1.5], -5, 5],
  exponential_gaussian: ['Peaks', 'EMG chromatography tailing skewed', [1, 0, 0.5, 0.8], -2, 5], skewed_gaussian: ['Peaks', 'skew normal', [1, -0.6, 1.3, 3], -3, 4], log_normal: ['Peaks', 'particle size skewed', [1, 0, 0.6], 0.01, 5],
  logistic: ['Growth', 'sigmoid population', [1, 3, 1.6], 0, 6], gompertz: ['Growth', 'sigmoid tumour', [1, 2, 1.2], 0, 6], richards: ['Growth', 'sigmoid generalised logistic', [1, 3, 1.8, 3], 0, 6], weibull_growth: ['Growth', 'sigmoid cumulative', [1, 2, 2.2], 0.001, 5],
  modified_gompertz: ['Growth', 'Zwietering bacteria lag microbial', [1, 0.5, 1.5], 0, 6], modified_logistic: ['Growth', 'Zwietering bacteria lag microbial', [1, 0.5, 1.5], 0, 6], baranyi_roberts: ['Growth', 'bacteria lag microbial', [0, 3, 1, 1.5], 0, 8],
  michaelis_menten: ['Enzymes and binding', 'kinetics saturation hyperbola', [1, 1], 0, 8], hill: ['Enzymes and binding', 'cooperative dose response', [1, 2, 2.5], 0.001, 6], substrate_inhibition: ['Enzymes and binding', 'Haldane kinetics', [1.6, 0.5, 2], 0, 8],
  morrison: ['Enzymes and binding', 'tight binding inhibitor', [1, 1, 0.1], 0, 3], binding_with_depletion: ['Enzymes and binding', 'ligand receptor quadratic', [1, 0.2, 1], 0, 4],
  logistic4: ['Dose and response', '4PL sigmoid IC50 EC50 ELISA', [0.1, 1, 1, 2], 0.02, 5], logistic5: ['Dose and response', '5PL sigmoid ELISA asymmetric', [0.1, 1, 1, 2, 0.5], 0.02, 5], logistic5_ec50: ['Dose and response', '5PL sigmoid EC50 asymmetric', [0.1, 1, 1, 2, 0.5], 0.02, 5],
  weibull1: ['Dose and response', 'drc sigmoid', [1.5, 0, 1, 1.5], 0.02, 5], weibull2: ['Dose and response', 'drc sigmoid', [1.5, 0, 1, 1.5], 0.02, 5], boltzmann: ['Dose and response', 'sigmoid voltage melting', [0.1, 1, 0, 0.7], -4, 4],
  langmuir: ['Isotherms', 'adsorption', [1, 1], 0, 8], freundlich: ['Isotherms', 'adsorption', [0.5, 2], 0.001, 5], bet: ['Isotherms', 'adsorption surface', [1, 40], 0, 0.7], toth: ['Isotherms', 'adsorption', [1, 1.5, 0.7], 0.001, 8], sips: ['Isotherms', 'adsorption', [1, 1, 0.6], 0.001, 5],
  herschel_bulkley: ['Rheology', 'yield stress viscosity', [0.3, 0.8, 0.5], 0.001, 4], bingham: ['Rheology', 'yield stress viscosity', [0.4, 0.3], 0, 4], casson: ['Rheology', 'yield stress blood chocolate', [0.3, 0.2], 0.001, 4], carreau: ['Rheology', 'viscosity shear thinning', [1, 0.1, 2, 0.2], 0.001, 5], cross: ['Rheology', 'viscosity shear thinning', [1, 0.1, 2, 1.2], 0.001, 5],
  one_compartment_bolus: ['Drugs', 'pharmacokinetics clearance', [1, 0.7], 0, 6], one_compartment_oral: ['Drugs', 'pharmacokinetics absorption Bateman', [1, 1.5, 0.4], 0, 10], two_compartment_bolus: ['Drugs', 'pharmacokinetics distribution', [0.7, 2, 0.4, 0.25], 0, 6],
  van_genuchten: ['Soil', 'water retention', [0.1, 0.5, 1, 2], 0.01, 6], arctan_step: ['Steps', 'edge XANES', [1, 0, 0.5], -4, 4], erf_step: ['Steps', 'edge', [1, 0, 1], -4, 4], logistic_step: ['Steps', 'edge Fermi', [1, 0, 0.5], -4, 4],
  sine: ['Waves', 'oscillation periodic', [1, 1, 0], 0, 12], damped_sine: ['Waves', 'oscillation ring-down', [1, 1.6, 0, 5], 0, 14],
  arrhenius: ['Temperature', 'activation energy rate', [1, 8000], 250, 600], eyring: ['Temperature', 'transition state rate', [60000, -20], 270, 340], vogel_fulcher_tammann: ['Temperature', 'glass viscosity', [1, 2, 0.2], 1, 4], antoine: ['Temperature', 'vapour pressure', [8, 1700, 230], 0, 100],
  rational: ['Lines', 'Padé', [0.2, 1, 0.8], 0, 5], polynomial3: ['Lines', 'cubic', [0.2, 2.2, -3, 1.2], 0, 1.7], polynomial4: ['Lines', 'quartic', [0.1, 3, -8, 7, -1.9], 0, 1.5],
};

const EXAMPLES_OF_LATER = { polynomial5: 5, polynomial6: 6, polynomial7: 7, polynomial8: 8, polynomial9: 9 };

/** A name as words. */
export const title = name => name.replace(/_/g, ' ').replace(/([a-z]{4,})(\d)/g, '$1 $2').replace(/^bet$/, 'BET').replace(/^./, letter => letter.toUpperCase());

/** The models of one predictor with what the gallery shows of them, by the functions of the package. */
export async function gallery({ models, evaluate }) {
  const all = (await models()).filter(model => model.predictors.length === 1);
  return Promise.all(all.map(async model => {
    const [family, words, parameters, low, high] = PICTURES[model.name] ?? ['Lines', 'polynomial', null];
    const shown = { ...model, title: title(model.name), family, words: `${model.name} ${family} ${words} ${model.formula}`.toLowerCase() };
    if (!parameters || model.name in EXAMPLES_OF_LATER) return { ...shown, path: '' };
    const x = Float64Array.from({ length: 49 }, (_, i) => low + ((high - low) * i) / 48);
    const y = await evaluate({ model: model.name, x, parameters });
    const [least, most] = [Math.min(...y), Math.max(...y)];
    const place = (value, i) => `${(4 + (72 * i) / 48).toFixed(1)} ${(most > least ? 36 - (32 * (value - least)) / (most - least) : 20).toFixed(1)}`;
    return { ...shown, path: `M${Array.from(y, place).join('L')}` };
  }));
}

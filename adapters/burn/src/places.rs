//! The parameters of a module: where their numbers are among all, reading them and putting others in.

use std::any::Any;
use std::collections::HashMap;

use burn::module::{Flag, Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{DType, Gradients, Tensor, TensorData};

use crate::element::{converted, dtype, transpose};
use crate::linear::is_weight;
use crate::recorder::Layout;
use crate::{Element, TrainerError};

/// A parameter, and where its numbers begin among those of all.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) id: ParamId,
    /// Shape of the tensor.
    pub(crate) shape: Vec<usize>,
    pub(crate) start: usize,
    pub(crate) layout: Layout,
    /// True if several parts of the module have it.
    is_shared: bool,
}

impl Place {
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Shape of the numbers among all.
    pub(crate) fn own_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        if self.layout == Layout::Transposed {
            shape.reverse();
        }
        shape
    }
}

/// The parameters of a module that require gradients, in the order in which it has them.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) list: Vec<Place>,
    by_id: HashMap<ParamId, usize>,
    /// Numbers of all.
    pub(crate) count: usize,
    /// True if the module has layers that behave differently in training, such as dropout.
    pub(crate) has_flags: bool,
}

impl Places {
    /// The parameters of a module, of numbers of the type `T`.
    pub(crate) fn of<T: Element>(module: &impl Module) -> Result<Self, TrainerError> {
        let mut collector =
            Collector { places: Places::default(), path: Vec::new(), other: None, expected: dtype::<T>() };
        module.visit(&mut collector);
        match collector.other {
            Some((name, found)) => Err(TrainerError::DType { name, expected: dtype::<T>(), found }),
            None if collector.places.list.is_empty() => Err(TrainerError::NoParameters),
            None => Ok(collector.places),
        }
    }

    pub(crate) fn get(&self, id: ParamId) -> Option<&Place> {
        self.by_id.get(&id).map(|&index| &self.list[index])
    }

    /// The first parameter that is not the same here and there, but for its id.
    pub(crate) fn difference(&self, other: &Places) -> Option<String> {
        let differs = |(a, b): &(&Place, &Place)| a.name != b.name || a.shape != b.shape;
        let differing = self.list.iter().zip(&other.list).find(differs).map(|(_, there)| there.name.clone());
        let missing = || {
            let shorter = self.list.len().min(other.list.len());
            self.list.get(shorter).or(other.list.get(shorter)).map(|place| place.name.clone())
        };
        differing.or_else(missing)
    }

    /// Reads the parameters of a module; `false` if they are not these.
    pub(crate) fn read<T: Element>(&self, module: &impl Module, numbers: &mut [T]) -> Result<bool, TrainerError> {
        let mut reader = Reader { places: self, numbers, next: 0, is_other: false, error: None };
        module.visit(&mut reader);
        let is_same = !reader.is_other && reader.next == self.list.len();
        reader.error.map_or(Ok(is_same), Err)
    }

    /// A module with other numbers in its parameters, which have gradients if `is_tracked`.
    pub(crate) fn put<T: Element, M: Module>(&self, module: &M, numbers: &[T], is_tracked: bool) -> M {
        module.clone().map(&mut Setter { places: self, numbers, is_tracked, shared: HashMap::new() })
    }

    /// Fills `numbers` with the gradients of a module's parameters after a backward pass.
    pub(crate) fn gradients<T: Element>(
        &self,
        module: &impl Module,
        gradients: &Gradients,
        numbers: &mut [T],
    ) -> Result<(), TrainerError> {
        let mut reader = GradientReader { places: self, gradients, numbers, error: None };
        module.visit(&mut reader);
        reader.error.map_or(Ok(()), Err)
    }

    /// The first layer of batch normalisation that is in training mode.
    pub(crate) fn batch_normalization(module: &impl Module) -> Option<String> {
        let mut finder = BatchNormalizationFinder { path: Vec::new(), is_inside: false, found: None };
        module.visit(&mut finder);
        finder.found
    }
}

/// Writes the numbers of a parameter to their place among all.
fn take<T: Element>(place: &Place, data: TensorData, numbers: &mut [T]) -> Result<(), TrainerError> {
    let data = converted::<T>(data)?;
    let from = data.as_slice::<T>()?;
    let numbers = &mut numbers[place.start..place.start + place.count()];
    if from.len() != numbers.len() {
        return Err(TrainerError::Count { expected: numbers.len(), shape: data.shape().to_vec() });
    }
    match place.layout {
        Layout::AsStored => numbers.copy_from_slice(from),
        Layout::Transposed => transpose(place.shape[0], place.shape[1], from, numbers),
    }
    Ok(())
}

/// Finds the parameters.
struct Collector {
    places: Places,
    path: Vec<(String, String)>,
    /// A parameter of numbers of another type.
    other: Option<(String, DType)>,
    expected: DType,
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.push((name.to_owned(), container.to_owned()));
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        self.places.has_flags |= flag.is_enabled();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !param.is_require_grad() {
            return;
        }
        let places = &mut self.places;
        if let Some(&known) = places.by_id.get(&param.id) {
            places.list[known].is_shared = true;
            return;
        }
        let names: Vec<&str> = self.path.iter().map(|(name, _)| name.as_str()).collect();
        let name = names.join(".");
        if param.dtype() != self.expected && self.other.is_none() {
            self.other = Some((name.clone(), param.dtype()));
        }
        let is_transposed = D == 2 && self.path.last().is_some_and(|(name, container)| is_weight(name, container));
        let layout = if is_transposed { Layout::Transposed } else { Layout::AsStored };
        let place =
            Place { name, id: param.id, shape: param.dims().to_vec(), start: places.count, layout, is_shared: false };
        places.by_id.insert(param.id, places.list.len());
        places.count += place.count();
        places.list.push(place);
    }
}

struct Reader<'a, T> {
    places: &'a Places,
    numbers: &'a mut [T],
    /// Parameters that were read.
    next: usize,
    /// True if a parameter is not among the places.
    is_other: bool,
    error: Option<TrainerError>,
}

impl<T: Element> ModuleVisitor for Reader<'_, T> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.is_other || self.error.is_some() || !param.is_require_grad() {
            return;
        }
        match self.places.list.get(self.next).filter(|place| place.id == param.id) {
            Some(place) if place.shape == param.dims() && param.dtype() == dtype::<T>() => {
                self.next += 1;
                let data = param.base().try_into_data().map_err(TrainerError::from);
                self.error = data.and_then(|data| take(place, data, self.numbers)).err();
            }
            Some(_) => self.is_other = true,
            None => self.is_other = !self.places.by_id.contains_key(&param.id),
        }
    }
}

struct Setter<'a, T> {
    places: &'a Places,
    numbers: &'a [T],
    is_tracked: bool,
    /// Tensors of parameters that several parts of the module have.
    shared: HashMap<ParamId, Box<dyn Any>>,
}

impl<T: Element> ModuleMapper for Setter<'_, T> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(place) = self.places.get(param.id) else { return param };
        let (id, old, mapper) = param.consume();
        if let Some(made) = self.shared.get(&id).and_then(|made| made.downcast_ref::<Tensor<D>>()) {
            return Param::from_mapped_value(id, made.clone(), mapper);
        }
        let from = &self.numbers[place.start..place.start + place.count()];
        let numbers = match place.layout {
            Layout::AsStored => from.to_vec(),
            Layout::Transposed => {
                let mut numbers = vec![T::ZERO; from.len()];
                transpose(place.shape[1], place.shape[0], from, &mut numbers);
                numbers
            }
        };
        let data = TensorData::new(numbers, place.shape.clone());
        let tensor = Tensor::<D>::from_data(data, (&old.device(), dtype::<T>())).set_require_grad(self.is_tracked);
        if place.is_shared {
            self.shared.insert(id, Box::new(tensor.clone()));
        }
        Param::from_mapped_value(id, tensor, mapper)
    }
}

struct GradientReader<'a, T> {
    places: &'a Places,
    gradients: &'a Gradients,
    numbers: &'a mut [T],
    error: Option<TrainerError>,
}

impl<T: Element> ModuleVisitor for GradientReader<'_, T> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(place) = self.places.get(param.id).filter(|_| self.error.is_none()) else { return };
        self.error = match param.base().grad(self.gradients) {
            Some(gradient) => {
                let data = gradient.try_into_data().map_err(TrainerError::from);
                data.and_then(|data| take(place, data, self.numbers)).err()
            }
            None => Some(TrainerError::UnusedParameter { name: place.name.clone() }),
        };
    }
}

struct BatchNormalizationFinder {
    path: Vec<String>,
    /// True if the innermost module is a batch normalisation.
    is_inside: bool,
    found: Option<String>,
}

impl ModuleVisitor for BatchNormalizationFinder {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.push(name.to_owned());
        self.is_inside = container == "Struct:BatchNorm";
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
        self.is_inside = false;
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        if self.is_inside && flag.is_enabled() && self.found.is_none() {
            self.found = Some(self.path[..self.path.len() - 1].join("."));
        }
    }
}

//! Weights of Keras and PyTorch, under their own names and in their own order of dimensions.

use std::path::Path;

use ndarray::{Array, ArrayD, IxDyn};
use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

use super::safetensors::{decode, read};
use super::{SafetensorsError, VariableError, Variables};
use crate::real::Real;

/// Last parts of names here, and those that Keras and PyTorch have for the same; of those with `true`, the last dimension is that of the outputs.
const NAMES: [(&str, &str, bool); 9] = [
    ("weight", "weight", false),
    ("weight", "kernel", true),
    ("weight", "gamma", false),
    ("weight", "embeddings", false),
    ("recurrent_weight", "recurrent_kernel", true),
    ("bias", "bias", false),
    ("bias", "beta", false),
    ("recurrent_bias", "bias", false),
    ("recurrent_bias", "recurrent_bias", false),
];

impl<T: Real> Variables<T> {
    /// Replaces the values of layers by those of layers of Keras or PyTorch in a safetensors file, feature `safetensors`, and returns the names of the tensors
    /// that were not used. Each pair is the beginning of the names here and of those in the file: `("0", "sequential/dense")` is `0.weight` from
    /// `sequential/dense/kernel`, transposed, and `0.bias` from `sequential/dense/bias`; `("2", "fc2")` is `2.weight` from PyTorch's `fc2.weight`. Other variables keep
    /// their values.
    ///
    /// Keras' `kernel`, `recurrent_kernel`, `gamma`, `beta` and `embeddings` are known, for dense, convolutional, recurrent, bidirectional, attention, embedding and layer
    /// normalization layers: `("1", "sequential/lstm")` is `1.weight` from `sequential/lstm/lstm_cell/kernel`. A dense layer behind a flattened image is not: Keras'
    /// images have their channels last. Of PyTorch, `weight` and `bias` are known, not those of its recurrent and attention layers. Such a file is written by
    ///
    /// ```text
    /// safetensors.numpy.save_file({w.path: w.numpy() for w in model.weights}, "weights.safetensors")   # Keras
    /// safetensors.torch.save_file(model.state_dict(), "weights.safetensors")                           # PyTorch
    /// ```
    ///
    /// # Errors
    ///
    /// A [`SafetensorsError`] when the file cannot be read, a pair names no variable here, or a variable that it names is not in the file or has another
    /// shape there; the variables are unchanged then.
    pub fn load_layers_safetensors(
        &mut self,
        path: impl AsRef<Path>,
        layers: &[(&str, &str)],
    ) -> Result<Vec<String>, SafetensorsError> {
        self.load_layers_safetensors_bytes(&read(path.as_ref())?, layers)
    }

    /// [`load_layers_safetensors`](Self::load_layers_safetensors) from the content of a file.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use ndarray::array;
    ///
    /// // As Keras has a dense layer of three inputs and two outputs.
    /// let mut keras = Variables::<f32>::new();
    /// keras.add("net/dense/kernel", array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].view())?;
    /// keras.add("net/dense/bias", array![7.0, 8.0].view())?;
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let weight = variables.add("0.weight", array![[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]].view())?;
    /// variables.add("0.bias", array![0.0, 0.0].view())?;
    /// let unused = variables.load_layers_safetensors_bytes(&keras.to_safetensors()?, &[("0", "net/dense")])?;
    /// assert!(unused.is_empty());
    /// assert_eq!(variables.get(weight), array![[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]].into_dyn());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As there.
    pub fn load_layers_safetensors_bytes(
        &mut self,
        bytes: &[u8],
        layers: &[(&str, &str)],
    ) -> Result<Vec<String>, SafetensorsError> {
        let tensors = SafeTensors::deserialize(bytes)?;
        let (mut loaded, mut used) = (self.clone(), Vec::new());
        for &(here, there) in layers {
            let mut is_known = false;
            for variable in self.iter() {
                let Some(rest) = self.name(variable).strip_prefix(here).and_then(|rest| rest.strip_prefix('.')) else {
                    continue;
                };
                is_known = true;
                let (name, tensor, is_transposed) = find(&tensors, there, rest)?;
                let is_recurrent_bias = rest.ends_with("recurrent_bias");
                let values = arranged(&name, &tensor, self.shape(variable), is_transposed, is_recurrent_bias)?;
                loaded.assign(variable, values.view())?;
                used.push(name);
            }
            if !is_known {
                return Err(SafetensorsError::UnknownLayer { name: here.to_owned() });
            }
        }
        *self = loaded;
        let mut unused: Vec<String> = tensors
            .names()
            .into_iter()
            .filter(|name| !used.iter().any(|used| used == name))
            .map(str::to_owned)
            .collect();
        unused.sort();
        Ok(unused)
    }
}

/// The tensor of a layer that is the variable with this rest of a name, and whether it is transposed.
fn find<'a>(
    tensors: &'a SafeTensors<'_>,
    layer: &str,
    rest: &str,
) -> Result<(String, TensorView<'a>, bool), SafetensorsError> {
    let (inner, last) = rest.rsplit_once('.').map_or((None, rest), |(inner, last)| (Some(inner), last));
    for (_, theirs, is_transposed) in NAMES.into_iter().filter(|(ours, ..)| *ours == last) {
        let wanted = inner.map_or_else(|| theirs.to_owned(), |inner| format!("{inner}.{theirs}"));
        let found = tensors.names().into_iter().find(|name| within(name, layer).as_deref() == Some(wanted.as_str()));
        if let Some(name) = found {
            return Ok((name.to_owned(), tensors.tensor(name)?, is_transposed));
        }
    }
    Err(SafetensorsError::Missing { name: format!("{layer}/{rest}, nor of Keras' or PyTorch's names for it") })
}

/// Name of a tensor within a layer, with the names that layers within it have here; `None` for a tensor of another layer.
fn within(name: &str, layer: &str) -> Option<String> {
    let rest = name.strip_prefix(layer)?.strip_prefix(['.', '/'])?;
    let parts = rest.split(['.', '/']).filter(|part| !part.ends_with("_cell"));
    let ours = parts.map(|part| match part {
        "attention_output" => "output",
        part if part.starts_with("forward_") => "forward",
        part if part.starts_with("backward_") => "backward",
        part => part,
    });
    Some(ours.collect::<Vec<_>>().join("."))
}

/// The entries of a tensor in the order and the shape of a variable.
fn arranged<T: Real>(
    name: &str,
    tensor: &TensorView<'_>,
    shape: &[usize],
    is_transposed: bool,
    is_recurrent_bias: bool,
) -> Result<ArrayD<T>, SafetensorsError> {
    let found = tensor.shape();
    let refuse = || {
        let (name, expected, found) = (name.to_owned(), shape.to_vec(), found.to_vec());
        SafetensorsError::from(VariableError::Shape { name, expected, found })
    };
    let mut values = Vec::new();
    decode(name, tensor, &mut values)?;
    let array = |values: Vec<T>, shape: &[usize]| Array::from_shape_vec(IxDyn(shape), values).map_err(|_| refuse());
    match (shape, found) {
        // Heads of attention are dimensions of their own in Keras.
        (&[outputs, inputs], _) if is_transposed => {
            let is_split = (0..=found.len()).any(|k| {
                found[..k].iter().product::<usize>() == inputs && found[k..].iter().product::<usize>() == outputs
            });
            if is_split { Ok(array(values, &[inputs, outputs])?.reversed_axes()) } else { Err(refuse()) }
        }
        (&[filters, channels, height, width], &[h, w, c, f])
            if is_transposed && [f, c, h, w] == [filters, channels, height, width] =>
        {
            Ok(array(values, found)?.permuted_axes(IxDyn(&[3, 2, 0, 1])))
        }
        _ if is_transposed => Err(refuse()),
        // Biases of inputs and of states are the rows of one matrix of Keras' GRU.
        (&[width], &[2, columns]) if width == columns => {
            let row = usize::from(is_recurrent_bias);
            array(values[row * width..(row + 1) * width].to_vec(), shape)
        }
        (&[width], &[heads, of_head]) if width == heads * of_head => array(values, shape),
        _ if shape == found => array(values, shape),
        _ => Err(refuse()),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayView, Dimension};

    use super::*;

    /// Numbers in order, in arrays of these names and shapes.
    fn counted(arrays: &[(&str, &[usize])]) -> Variables<f64> {
        let (mut variables, mut next) = (Variables::new(), 0.0);
        for (name, shape) in arrays {
            let array = ArrayD::from_shape_fn(IxDyn(shape), |_| {
                next += 1.0;
                next
            });
            variables.add(*name, array.view()).unwrap();
        }
        variables
    }

    /// The variable `0.{name}` of this shape, filled from such a file.
    fn filled(name: &str, shape: &[usize], file: &[(&str, &[usize])]) -> Result<ArrayD<f64>, SafetensorsError> {
        let mut variables = counted(&[(&format!("0.{name}"), shape), ("1.weight", &[2])]);
        let before = variables.values().to_vec();
        let loaded = variables.load_layers_safetensors_bytes(&counted(file).to_safetensors()?, &[("0", "net/layer")]);
        if loaded.is_err() {
            assert_eq!(variables.values(), before);
        }
        loaded?;
        let [own, other] = variables.iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(&variables.values()[other.range()], &before[other.range()]);
        Ok(variables.get(own).to_owned())
    }

    #[track_caller]
    fn check<D: Dimension>(
        found: Result<ArrayD<f64>, SafetensorsError>,
        at: impl Fn(&[usize]) -> f64,
        like: ArrayView<'_, f64, D>,
    ) {
        let found = found.unwrap();
        assert_eq!(found.shape(), like.shape());
        for (index, value) in found.indexed_iter() {
            assert_eq!(*value, at(index.slice()), "{index:?}");
        }
    }

    #[test]
    fn arrays_of_keras_are_turned_over() {
        let zeros = |shape: &[usize]| ArrayD::<f64>::zeros(IxDyn(shape));
        // A kernel (3, 3, 2, 4): height, width, channels, filters.
        let found = filled("weight", &[4, 2, 3, 3], &[("net/layer/kernel", &[3, 3, 2, 4])]);
        check(found, |i| 1.0 + (((i[2] * 3 + i[3]) * 2 + i[1]) * 4 + i[0]) as f64, zeros(&[4, 2, 3, 3]).view());
        // Queries of two heads with three entries each, of five inputs; and what comes of them.
        let found = filled("query.weight", &[6, 5], &[("net/layer/query/kernel", &[5, 2, 3])]);
        check(found, |i| 1.0 + (i[1] * 6 + i[0]) as f64, zeros(&[6, 5]).view());
        let found = filled("output.weight", &[5, 6], &[("net/layer/output/kernel", &[2, 3, 5])]);
        check(found, |i| 1.0 + (i[1] * 5 + i[0]) as f64, zeros(&[5, 6]).view());
        let found = filled("query.bias", &[6], &[("net/layer/query/bias", &[2, 3])]);
        check(found, |i| 1.0 + i[0] as f64, zeros(&[6]).view());
        // Both biases of a GRU.
        for (name, first) in [("bias", 1.0), ("recurrent_bias", 7.0)] {
            let found = filled(name, &[6], &[("net/layer/bias", &[2, 6])]);
            check(found, |i| first + i[0] as f64, zeros(&[6]).view());
        }
        let found = filled("recurrent_weight", &[6, 2], &[("net/layer/recurrent_kernel", &[2, 6])]);
        check(found, |i| 1.0 + (i[1] * 6 + i[0]) as f64, zeros(&[6, 2]).view());
        let found = filled("weight", &[7], &[("net/layer/gamma", &[7])]);
        check(found, |i| 1.0 + i[0] as f64, zeros(&[7]).view());
    }

    #[test]
    fn layers_of_pytorch_are_renamed() {
        let file = counted(&[("net.fc.weight", &[2, 3]), ("net.fc.bias", &[2]), ("other", &[1])]);
        let mut variables = counted(&[("4.weight", &[2, 3]), ("4.bias", &[2])]);
        variables.values_mut().fill(0.0);
        let bytes = file.to_safetensors().unwrap();
        assert_eq!(variables.load_layers_safetensors_bytes(&bytes, &[("4", "net.fc")]).unwrap(), ["other"]);
        assert_eq!(variables.values(), &file.values()[..8]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let error = filled("weight", &[4, 3], &[("net/layer/kernel", &[4, 3])]).unwrap_err().to_string();
        assert!(error.contains("net/layer/kernel"), "{error}");
        let error = filled("weight", &[4, 2, 3, 3], &[("net/layer/kernel", &[4, 2, 3, 3])]).unwrap_err().to_string();
        assert!(error.contains("net/layer/kernel"), "{error}");
        let error = filled("weight", &[4, 3], &[("net/dense/kernel", &[3, 4])]).unwrap_err().to_string();
        assert!(error.contains("net/layer/weight"), "{error}");
        let mut variables = counted(&[("10.weight", &[1])]);
        let bytes = variables.to_safetensors().unwrap();
        let error = variables.load_layers_safetensors_bytes(&bytes, &[("1", "10")]).unwrap_err();
        assert!(matches!(error, SafetensorsError::UnknownLayer { .. }), "{error}");
    }
}

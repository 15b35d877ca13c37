//! The patches of images that convolutions are dense layers on.

use burn::nn::PaddingConfig2d;
use burn::nn::conv::Conv2d;

use crate::Element;

/// The geometry of a convolution over images of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Patches {
    /// Channels of the image, its height and its width.
    image: [usize; 3],
    /// Height and width of the output.
    output: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    /// Zeros above the image, and to the left of it.
    padding: [usize; 2],
    groups: usize,
}

impl Patches {
    /// Patches of a layer, for images and outputs of these shapes.
    pub(crate) fn new(layer: &Conv2d, image: &[usize; 4], output: [usize; 2]) -> Self {
        let [_, channels, height, width] = *image;
        let padding = match layer.padding {
            PaddingConfig2d::Valid => [0, 0],
            PaddingConfig2d::Explicit(top, left, _, _) => [top, left],
            PaddingConfig2d::Same => [0, 1].map(|side| {
                let (size, stride) = ([height, width][side], layer.stride[side]);
                ((size.div_ceil(stride).max(1) - 1) * stride + layer.kernel_size[side]).saturating_sub(size) / 2
            }),
        };
        Patches {
            image: [channels, height, width],
            output,
            kernel: layer.kernel_size,
            stride: layer.stride,
            dilation: layer.dilation,
            padding,
            groups: layer.groups,
        }
    }

    /// Numbers in a patch.
    pub(crate) fn width(&self) -> usize {
        self.image[0] / self.groups * self.kernel[0] * self.kernel[1]
    }

    /// Fills `patches` with those of a group of channels: for each image, row and column of the output, the numbers that go into it,
    /// channel after channel.
    pub(crate) fn fill<T: Element>(&self, group: usize, images: &[T], patches: &mut [T]) {
        let [channels, height, width] = self.image;
        let of_group = channels / self.groups;
        let [kernel_height, kernel_width] = self.kernel;
        let mut patches = patches.chunks_exact_mut(self.width().max(1));
        for image in images.chunks_exact((channels * height * width).max(1)) {
            let image = &image[group * of_group * height * width..(group + 1) * of_group * height * width];
            for place in 0..self.output[0] * self.output[1] {
                let Some(patch) = patches.next() else { return };
                let at = [place / self.output[1], place % self.output[1]];
                for (k, number) in patch.iter_mut().enumerate() {
                    let under = [k / kernel_width % kernel_height, k % kernel_width];
                    let pixel = [0, 1].map(|side| {
                        (at[side] * self.stride[side] + under[side] * self.dilation[side])
                            .checked_sub(self.padding[side])
                            .filter(|&pixel| pixel < [height, width][side])
                    });
                    let channel = k / (kernel_height * kernel_width);
                    *number = match pixel {
                        [Some(row), Some(column)] => image[(channel * height + row) * width + column],
                        _ => T::ZERO,
                    };
                }
            }
        }
    }

    /// Fills `rows` with numbers of a group of the output's channels: for each image, and each of its places, a number for each channel.
    pub(crate) fn gather_rows<T: Element>(&self, group: usize, outputs: usize, images: &[T], rows: &mut [T]) {
        let places = self.output[0] * self.output[1];
        let of_all = outputs * self.groups * places;
        for (image, rows) in images.chunks_exact(of_all.max(1)).zip(rows.chunks_exact_mut((outputs * places).max(1))) {
            let image = &image[group * outputs * places..(group + 1) * outputs * places];
            crate::element::transpose(outputs, places, image, rows);
        }
    }
}

//! Layers of burn's, recorded.

/// Makes a recorded layer of one of burn's, whose fields, records and display it has.
macro_rules! recorded_layer {
    ($(#[$documentation:meta])* $name:ident($plain:ty)) => {
        $(#[$documentation])*
        #[derive(Clone, Debug)]
        pub struct $name($plain);

        impl From<$plain> for $name {
            fn from(layer: $plain) -> Self {
                $name(layer)
            }
        }

        impl From<$name> for $plain {
            fn from(layer: $name) -> Self {
                layer.0
            }
        }

        impl std::ops::Deref for $name {
            type Target = $plain;

            fn deref(&self) -> &$plain {
                &self.0
            }
        }

        impl std::ops::DerefMut for $name {
            fn deref_mut(&mut self) -> &mut $plain {
                &mut self.0
            }
        }

        impl burn::module::Module for $name {
            fn collect_devices(&self, devices: burn::module::Devices) -> burn::module::Devices {
                self.0.collect_devices(devices)
            }

            fn fork(self, device: &burn::tensor::Device) -> Self {
                $name(self.0.fork(device))
            }

            fn to_device(self, device: &burn::tensor::Device) -> Self {
                $name(self.0.to_device(device))
            }

            fn train(self) -> Self {
                $name(self.0.train())
            }

            fn valid(&self) -> Self {
                $name(self.0.valid())
            }

            fn materialize(self) -> Self {
                $name(self.0.materialize())
            }

            fn visit<V: burn::module::ModuleVisitor>(&self, visitor: &mut V) {
                self.0.visit(visitor);
            }

            fn map<M: burn::module::ModuleMapper>(self, mapper: &mut M) -> Self {
                $name(self.0.map(mapper))
            }
        }

        impl burn::module::ModuleDisplayDefault for $name {
            fn content(&self, content: burn::module::Content) -> Option<burn::module::Content> {
                burn::module::ModuleDisplayDefault::content(&self.0, content)
            }

            fn num_params(&self) -> usize {
                burn::module::Module::num_params(&self.0)
            }
        }

        impl burn::module::ModuleDisplay for $name {
            fn custom_settings(&self) -> Option<burn::module::DisplaySettings> {
                self.0.custom_settings()
            }

            fn custom_content(&self, content: burn::module::Content) -> Option<burn::module::Content> {
                self.0.custom_content(content)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

pub(crate) use recorded_layer;

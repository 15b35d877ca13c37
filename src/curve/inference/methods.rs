//! Methods that every result with a curve has.

/// Gives a result the methods of its statistics, `inference`, of its criteria, and of its curve with both, `uncertain_curve`.
macro_rules! inference_methods {
    () => {
        /// Parameters, covariance and noise, from which statistics follow.
        pub fn inference(&self) -> &crate::curve::FitInference<T> {
            &self.inference
        }

        crate::curve::inference::methods_of! { FitInference, inference;
            parameters() -> &[crate::curve::FittedParameter<T>];
            parameter(name: &str) -> Option<&crate::curve::FittedParameter<T>>;
            covariance() -> &crate::solver::Covariance<T>;
            degrees_of_freedom() -> usize;
            residual_standard_deviation() -> Option<T>;
            confidence_interval(name: &str, level: f64) -> Result<crate::curve::Interval<T>, StatisticsError>;
            confidence_intervals(level: f64) -> Result<Vec<crate::curve::Interval<T>>, StatisticsError>;
            derived(quantity: &crate::curve::Tie<T>) -> Result<crate::curve::Estimate<T>, StatisticsError>;
            derived_covariance<'q>(
                quantities: impl IntoIterator<Item = (&'q str, &'q crate::curve::Tie<T>)>
            ) -> Result<crate::solver::Covariance<T>, StatisticsError>;
        }

        crate::curve::inference::methods_of! { Criteria, criteria;
            reduced_chi_square() -> Option<T>;
            aic() -> T;
            aicc() -> T;
            bic() -> T;
        }

        /// The responses of the curve to other predictors.
        ///
        /// # Errors
        ///
        /// The curve's own error when it cannot be evaluated, or a message when the number of predictors in a row is another than
        /// in the fit, or the fit was stored without its curve.
        pub fn predict<'x>(&self, x: impl Into<Rows<'x, T>>) -> Evaluated<Vec<T>> {
            self.uncertain_curve()?.predict(x.into())
        }

        /// The [complex](crate::CurveFit::complex) responses of the curve to other predictors.
        ///
        /// # Errors
        ///
        /// As for [`predict`](Self::predict), and a message if the curve does not have two responses to a row.
        pub fn predict_complex<'x>(&self, x: impl Into<Rows<'x, T>>) -> Evaluated<Vec<crate::autodiff::Complex<T>>> {
            self.uncertain_curve()?.predict_complex(x.into())
        }

        /// Pointwise confidence band: at each of these predictors, the interval that contains the true curve with probability `level`, from
        /// the derivatives of the curve and the covariance of all parameters. One point for each response, row by row.
        ///
        /// Quantiles are those of [`confidence_interval`](Self::confidence_interval). The standard error is infinite where the
        /// curve depends on a parameter that the data do not determine, or the noise is unknown.
        ///
        /// # Errors
        ///
        /// [`StatisticsError`] for a level that is not between 0 and 1, another number of predictors than in the fit, where
        /// the curve or its derivative is not finite, and for a fit that was stored without its curve.
        ///
        /// ```
        /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
        /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
        /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
        /// let curve = fit.confidence_band(&[1.5, 9.0], 0.95)?;
        /// let responses = fit.prediction_band(&[1.5, 9.0], 0.95)?;
        /// assert!(responses[0].low < curve[0].low && curve[0].low < curve[0].value);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn confidence_band<'x>(
            &self,
            x: impl Into<Rows<'x, T>>,
            level: f64,
        ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
            self.uncertain_curve()?.confidence_band(x.into(), level)
        }

        /// Prediction band: at each of these predictors, the interval that contains a new response with probability `level`. It combines
        /// the uncertainty of the curve and the noise, whose variance is
        ///
        /// - `s²`, estimated from the residuals, or 1 with [`absolute_sigma`](crate::CurveFit::absolute_sigma); for a robust fit, the
        ///   square of [`mad_scale`](crate::problem::mad_scale) of the residuals, so that the band does not account for outliers,
        /// - that variance times the square of sigma, if sigma is given and is the same in all rows,
        /// - for counts, the response of the curve.
        ///
        /// New responses are assumed to be independent of the fitted ones.
        ///
        /// # Errors
        ///
        /// As for [`confidence_band`](Self::confidence_band); [`StatisticsError::UnknownSigma`] where sigma is not the same in all
        /// rows, for which there is [`prediction_band_with_sigma`](Self::prediction_band_with_sigma).
        pub fn prediction_band<'x>(
            &self,
            x: impl Into<Rows<'x, T>>,
            level: f64,
        ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
            self.uncertain_curve()?.prediction_band(x.into(), level)
        }

        /// The [prediction band](Self::prediction_band) of new responses with these standard deviations, one to each response,
        /// relative or absolute as in the fit.
        ///
        /// # Errors
        ///
        /// As for [`confidence_band`](Self::confidence_band); for counts, and for standard deviations that do not match the
        /// responses or are not positive.
        pub fn prediction_band_with_sigma<'x>(
            &self,
            x: impl Into<Rows<'x, T>>,
            sigma: impl Into<Rows<'x, T>>,
            level: f64,
        ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
            self.uncertain_curve()?.prediction_band_with_sigma(x.into(), &sigma.into().into_flat(), level)
        }

        /// Searches the unknown predictor of an observed response (calibration, inverse prediction): `responses` are the replicates of one
        /// unknown, at least 1. The range of the data is searched, unless [`within`](crate::curve::Calibration::within) sets another.
        ///
        /// # Errors
        ///
        /// An error if the fit was stored without its curve; for others see [`Calibration::solve`](crate::curve::Calibration::solve).
        ///
        /// ```
        /// let concentration = [0.0, 1.0, 2.0, 4.0, 8.0_f64];
        /// let signal = [0.1, 2.1, 3.9, 8.2, 15.9];
        /// let fit = marquardt::curve_fit(|x, [a, b]| a + b * x, &concentration, &signal, [0.0, 1.0])?;
        /// let unknown = fit.x_for(&[5.9, 6.2])?.solve()?[0];
        /// assert!(unknown.interval.contains(3.0) && (unknown.x - 3.0).abs() < 0.1);
        /// assert!(fit.x_for(&[20.0])?.solve().is_err(), "it would be extrapolated");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn x_for(&self, responses: &[T]) -> Evaluated<crate::curve::Calibration<'_, T>> {
            Ok(crate::curve::Calibration::new(self.uncertain_curve()?, responses, self.predictor_range()))
        }

        /// A plot of the data, the curve with its bands at 95 %, and the residuals, to be labelled further and saved. Feature
        /// `plot`.
        ///
        /// - Each response of several, by its [name](crate::CurveFit::response_names), and each data set of a [`GlobalFit`](crate::GlobalFit), is a series of its own. Rows that
        ///   were left out of the fit are not drawn.
        /// - Data have error bars where they have a sigma, and horizontal ones where their predictors have. A relative sigma is multiplied
        ///   by its size, estimated from the residuals.
        /// - The [confidence](Self::confidence_band) and the [prediction band](Self::prediction_band) are drawn if they exist: the
        ///   confidence band needs degrees of freedom, and the prediction band needs a sigma that is the same in all rows.
        /// - Residuals are divided by sigma where there is one, and of counts by the root of the mean; a strip is one standard
        ///   deviation of the noise to either side.
        /// - Observations whose weight under a robust loss is below 0.1 are drawn as outliers, without residuals.
        /// - The terms of a sum of the library's models are drawn below the curve.
        /// - A curve of two predictors with one response is a [`HeatMap`](crate::curve::HeatMap), in which the data have the colours of their observed responses; residuals are drawn
        ///   over fitted responses below.
        /// - Of rows that ranks [share](crate::CurveFit::communicator), this rank's are drawn.
        ///
        /// # Errors
        ///
        /// [`PlotError`](crate::curve::PlotError) for a curve of more predictors, or of two with several responses or data sets or stored, for a fit that was stored without its data or
        /// its curve, and where the curve cannot be evaluated.
        ///
        /// ```
        /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
        /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
        /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
        /// let plot = fit.plot()?.title("A decay").x_label("time (h)").y_label("dose (mg)");
        /// assert!(plot.to_svg().contains("95 % confidence band"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
        pub fn plot(&self) -> Result<crate::curve::Plot, crate::curve::PlotError> {
            if let Some(surface) = self.surface() {
                return surface;
            }
            let plot = self.inference.noise.empty_plot();
            Ok(self.plot_series()?.into_iter().fold(plot, crate::curve::Plot::series))
        }

        /// The Nyquist plot of a [complex](crate::CurveFit::complex) curve: negative imaginary parts over real parts, on axes of one scale.
        /// Feature `plot`.
        ///
        /// # Errors
        ///
        /// As for [`plot`](Self::plot), and [`PlotError::NotComplex`](crate::curve::PlotError::NotComplex).
        ///
        /// ```
        /// use marquardt::{Complex, CurveFit};
        ///
        /// let omega = [10.0, 100.0, 1e3, 1e4, 1e5];
        /// let (re, im) = ([110.0, 109.1, 59.8, 11.1, 10.1], [-1.0, -9.9, -50.1, -9.8, -1.1_f64]);
        /// let randles = CurveFit::complex(
        ///     |w, [r0, r1, c]| r0 + r1 / (1.0 + Complex::i() * (w * r1 * c)),
        ///     &omega,
        ///     (&re, &im),
        ///     [1.0, 50.0, 2e-6],
        /// );
        /// let fit = randles.fit()?;
        /// assert!(fit.nyquist_plot()?.x_label("Re Z (Ω)").to_svg().contains("Re Z"));
        /// assert!(fit.bode_plot()?.x_label("ω (1/s)").to_svg().contains("phase"));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
        pub fn nyquist_plot(&self) -> Result<crate::curve::Plot, crate::curve::PlotError> {
            let plot = crate::curve::Plot::new().x_label("real part").y_label("−imaginary part").equal_scales();
            Ok(self
                .series_in(Some(super::inference::ComplexView::Nyquist))?
                .into_iter()
                .fold(plot, crate::curve::Plot::series))
        }

        /// The Bode plot of a [complex](crate::CurveFit::complex) curve: moduli on logarithmic axes, and below them phases in degrees. Feature
        /// `plot`.
        ///
        /// # Errors
        ///
        /// As for [`nyquist_plot`](Self::nyquist_plot).
        #[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
        pub fn bode_plot(&self) -> Result<crate::curve::Plot, crate::curve::PlotError> {
            use super::inference::ComplexView;
            let empty = |label: &str| crate::curve::Plot::new().y_label(label).log_x();
            let drawn = |plot, view| Ok(self.series_in(Some(view))?.into_iter().fold(plot, crate::curve::Plot::series));
            Ok(drawn(empty("modulus").log_y(), ComplexView::Modulus)?
                .above(drawn(empty("phase (°)"), ComplexView::Phase)?))
        }
    };
}

/// Methods that pass on to a part of the result.
macro_rules! methods_of {
    ($type:ident, $part:ident; $($method:ident$(<$life:lifetime>)?($($argument:ident: $given:ty),*) -> $result:ty;)*) => { $(
        #[doc = concat!("See [`", stringify!($type), "::", stringify!($method), "`](crate::curve::", stringify!($type), "::", stringify!($method), ").")]
        pub fn $method$(<$life>)?(&self, $($argument: $given),*) -> $result {
            self.$part().$method($($argument),*)
        }
    )* };
}

pub(in crate::curve) use {inference_methods, methods_of};

//! Plots: what is in them, for all data, good and strange.
#![cfg(feature = "plot")]

use marquardt::curve::{HeatMap, LegendPlace, Plot, PlotError, Series};

/// The pixels of a picture are divided into so many.
const SCALE: f64 = 3.0;

const X: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

fn data() -> impl Iterator<Item = (f64, f64)> {
    X.into_iter().map(|x| (x, 1.0 + x * x))
}

fn curve() -> impl Iterator<Item = (f64, f64)> {
    (0..=100).map(|i| i as f64 / 25.0).map(|x| (x, 1.0 + x * x))
}

fn band(half_width: f64) -> impl Iterator<Item = (f64, f64, f64)> {
    curve().map(move |(x, y)| (x, y - half_width, y + half_width))
}

/// Everything at once.
fn everything() -> Plot {
    let series = Series::new()
        .points_with_errors(data().map(|(x, y)| (x, y, 0.5)))
        .outliers([(1.5, 12.0)])
        .omitted([(2.5, 1.0), (3.5, 2.0)])
        .curve(curve())
        .confidence_band(0.95, band(0.5))
        .prediction_band(0.95, band(1.5))
        .residuals(data().map(|(x, y)| (x, (y - 3.0) / 10.0)));
    let plot = Plot::new().title("A parabola").x_label("time (s)").y_label("way <m>").series(series);
    plot.residual_label("standardised residual").residual_band(1.0).size(360, 300)
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

/// The texts, in order.
fn texts(svg: &str) -> Vec<&str> {
    svg.split("<text").skip(1).filter_map(|element| element.split(['<', '>']).nth(1)).map(str::trim).collect()
}

/// The coordinates of all that is drawn.
fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
    let marker = format!(" {attribute}=\"");
    svg.split(&marker as &str).skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

/// The lines of a colour and of the width of curves.
fn lines<'a>(svg: &'a str, color: &str) -> Vec<&'a str> {
    let is_curve = |line: &&str| line.starts_with("<polyline") && line.contains(color) && line.contains("width=\"6\"");
    svg.lines().filter(is_curve).filter(|line| line.matches(',').count() > 2).collect()
}

#[test]
fn everything_is_drawn() {
    let svg = everything().size(900, 680).to_svg();
    // Each is in the legend, too: data and their residuals, and rings.
    assert_eq!(count(&svg, "<circle"), (5 + 5 + 1) + (1 + 1));
    for text in ["A parabola", "time (s)", "way &lt;m&gt;", "standardised residual"] {
        assert!(texts(&svg).contains(&text), "{text}: {:?}", texts(&svg));
    }
    for name in ["data", "fit", "95 % confidence band", "95 % prediction band", "outliers", "left out"] {
        assert!(texts(&svg).contains(&name), "{name}: {:?}", texts(&svg));
    }
    assert_eq!(count(&svg, "<polygon"), 2);
}

#[test]
fn a_plain_plot_has_no_legend_and_one_panel() {
    let svg = Plot::new().series(Series::new().points(data()).curve(curve())).to_svg();
    assert_eq!(count(&svg, "<circle"), 5);
    assert_eq!(lines(&svg, "#D65630").len(), 1);
    let mut texts = texts(&svg);
    texts.sort_by(|a, b| a.parse::<f64>().unwrap_or(f64::MAX).total_cmp(&b.parse().unwrap_or(f64::MAX)));
    assert_eq!(
        texts,
        [
            "0.0", "0.5", "1.0", "1.5", "2", "2.0", "2.5", "3.0", "3.5", "4", "4.0", "6", "8", "10", "12", "14", "16",
            "y", "x"
        ]
    );
}

#[test]
fn several_series_have_colours_and_names() {
    let series = |name: &str| Series::new().name(name).points(data()).curve(curve());
    let svg = Plot::new().series(series("first")).series(series("second")).to_svg();
    for color in ["#0072B2", "#D55E00"] {
        let points = svg.lines().filter(|line| line.starts_with("<circle") && line.contains(color));
        assert_eq!((points.count(), lines(&svg, color).len()), (5, 1), "{color}");
    }
    assert!(texts(&svg).contains(&"first") && texts(&svg).contains(&"second"));
}

/// There are seven colours, each in three shades.
#[test]
fn many_series_have_shades() {
    let series = |index: usize| Series::new().name(format!("group {index}")).points([(index as f64, 1.0)]);
    let svg = (0..21).map(series).fold(Plot::new(), Plot::series).to_svg();
    let circles = svg.lines().filter(|line| line.starts_with("<circle"));
    let colors = circles.filter_map(|line| line.split("fill=\"").nth(1)?.split('"').next());
    assert_eq!(colors.collect::<std::collections::HashSet<_>>().len(), 21);
}

#[test]
fn logarithmic_axes_leave_out_what_they_cannot_show() {
    let points = [(0.0, 1.0), (1.0, -1.0), (1.0, 1e-3), (10.0, 1.0), (1e3, 1e3)];
    let svg = Plot::new().log_x().log_y().series(Series::new().points(points)).to_svg();
    assert_eq!(count(&svg, "<circle"), 3);
    for number in ["0.001", "0.01", "0.1", "1", "10", "100", "1000"] {
        assert!(texts(&svg).contains(&number), "{number}: {:?}", texts(&svg));
    }
    let svg = Plot::new().log_y().series(Series::new().points([(0.0, 0.8), (1.0, 12.0)])).to_svg();
    assert!(["1", "2", "5", "10"].iter().all(|number| texts(&svg).contains(number)), "{:?}", texts(&svg));
    let svg = Plot::new().log_y().series(Series::new().points([(0.0, 2.0), (1.0, 9.0)])).to_svg();
    assert!(["2", "3", "4"].iter().all(|number| texts(&svg).contains(number)), "{:?}", texts(&svg));
    let svg = Plot::new().log_y().series(Series::new().points([(0.0, 3.0), (1.0, 4.0)])).to_svg();
    assert!(["3.0", "3.2", "3.4"].iter().all(|number| texts(&svg).contains(number)), "{:?}", texts(&svg));
}

#[test]
fn a_narrow_range_names_what_its_numbers_leave_out() {
    let points = (0..5).map(|i| (2_459_000.0 + 1e-3 * f64::from(i), -5_000.000_001 * f64::from(i)));
    let svg = Plot::new().x_label("day").series(Series::new().points(points)).to_svg();
    assert!(texts(&svg).contains(&"day − 2459000") && texts(&svg).contains(&"0.0020"), "{:?}", texts(&svg));
    assert!(texts(&svg).contains(&"y"));
    let points = (0..5).map(|i| (f64::from(i), -2_459_000.5 + 1e-3 * f64::from(i)));
    let svg = Plot::new().series(Series::new().points(points)).to_svg();
    assert!(texts(&svg).contains(&"y + 2459000.5") && texts(&svg).contains(&"0.0020"), "{:?}", texts(&svg));
}

/// Whatever the range, so that it can be read.
#[test]
fn an_axis_of_residuals_has_several_numbers() {
    for scale in [0.31, 0.38, 0.4, 0.45, 0.5, 0.62, 0.7, 0.9] {
        let residuals = [(0.0, -scale), (1.0, 0.9 * scale), (4.0, 0.1)];
        let svg = Plot::new().series(Series::new().points([(0.0, 1e3), (4.0, 7e3)]).residuals(residuals)).to_svg();
        // The other axes have no numbers below zero.
        assert!(texts(&svg).iter().any(|text| text.starts_with("-0.")), "{scale}: {:?}", texts(&svg));
    }
}

#[test]
fn large_and_small_numbers_are_short() {
    let svg = Plot::new().series(Series::new().points([(0.0, 0.0), (3e9, -4e-9)])).to_svg();
    for number in ["0", "1e9", "2.5e9", "-4e-9"] {
        assert!(texts(&svg).contains(&number), "{number}: {:?}", texts(&svg));
    }
}

#[test]
fn a_legend_gives_way_to_data() {
    assert!(!texts(&everything().size(300, 240).to_svg()).contains(&"fit"));
    // The upper right is taken.
    let svg = everything().size(900, 680).to_svg();
    let legend = svg.split("<text").find(|text| text.contains("95 % confidence band")).unwrap();
    assert!(numbers(legend, "x")[0] < 900.0 * SCALE / 2.0);
}

/// Plots of data with something wrong.
fn strange() -> impl Iterator<Item = Plot> {
    let strange: [&[(f64, f64)]; 11] = [
        &[],
        &[(1.0, 2.0)],
        &[(0.0, 0.0)],
        &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)],
        &[(2.0, 1.0), (2.0, 3.0)],
        &[(2.0, 1.0), (2.0, 1.0)],
        &[(f64::NAN, 1.0), (1.0, f64::INFINITY), (1.0, 1.0)],
        &[(-f64::MAX, f64::MAX), (f64::MAX, -f64::MAX)],
        &[(1e-320, 1e-310), (3e-320, 4e-310)],
        &[(1.0, 1.0), (1.0 + f64::EPSILON, 1.0 - f64::EPSILON)],
        &[(1e15, -3e-9), (1e15 + 1.0, 4e9)],
    ];
    strange.into_iter().flat_map(|points| {
        let series = Series::new()
            .points_with_errors(points.iter().map(|&(x, y)| (x, y, y / 2.0)))
            .outliers(points.iter().copied())
            .omitted(points.iter().copied())
            .curve(points.iter().copied())
            .confidence_band(0.9, points.iter().map(|&(x, y)| (x, f64::NEG_INFINITY, y)))
            .residuals(points.iter().copied());
        let plot = Plot::new().size(240, 240).series(series);
        [plot.clone().residual_band(f64::INFINITY), plot.residual_band(f64::NAN).log_x().log_y()]
    })
}

#[test]
fn strange_data_are_drawn_as_far_as_they_go() {
    for plot in strange() {
        let svg = plot.to_svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{plot:?}\n{svg}");
        for attribute in ["cx", "x", "cy", "y"] {
            let all = numbers(&svg, attribute);
            assert!(all.iter().all(|number| (0.0..=SCALE * 240.0).contains(number)), "{plot:?}, {attribute}: {all:?}");
        }
        let ticks = texts(&svg).iter().filter(|text| text.parse::<f64>().is_ok()).count();
        assert!((4..30).contains(&ticks), "{plot:?} {:?}", texts(&svg));
    }
}

#[test]
fn strange_data_become_pixels() {
    for plot in strange().skip(14).step_by(3) {
        assert_eq!(png_size(&plot.to_png()), (240, 240));
    }
}

#[test]
fn any_two_numbers_have_axes() {
    let mut bits = 1_u64;
    let mut any = || {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from_bits(bits ^ (bits >> 33))
    };
    for trial in 0..150 {
        let first = any();
        // Every other time, numbers that are near each other.
        let second = if trial % 2 == 0 { any() } else { first * (1.0 + 1e-15 * (1_u64 << (trial % 50)) as f64) };
        let points = [(first, second), (second, first)];
        let plot = Plot::new().size(400, 300).series(Series::new().points(points).curve(points));
        for plot in [plot.clone(), plot.log_x().log_y()] {
            let svg = plot.to_svg();
            let ticks = texts(&svg).iter().filter(|text| text.parse::<f64>().is_ok()).count();
            assert!((4..20).contains(&ticks), "{first} {second} {:?}", texts(&svg));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{first} {second} {svg}");
        }
    }
}

#[test]
fn a_pole_does_not_blow_up_the_axis() {
    let points = (0..10).map(|i| (f64::from(i), 1.0 / (f64::from(i) - 4.5)));
    let curve = (0..=900).map(|i| f64::from(i) / 100.0).map(|x| (x, 1.0 / (x - 4.5)));
    let svg = Plot::new().series(Series::new().points(points).curve(curve)).to_svg();
    assert_eq!(lines(&svg, "#D65630").len(), 2, "one line on each side");
    let top = texts(&svg).iter().filter_map(|text| text.parse::<f64>().ok()).fold(0.0, f64::max);
    assert!(top < 10.0, "{top}");
}

#[test]
fn texts_are_within_the_picture_and_numbers_apart() {
    let long = "a very long label of an axis, with its unit (mol l⁻¹ s⁻¹), which does not fit everywhere";
    for (low, high) in [(0.0, 1.0), (123_456.0, 123_999.0), (-1e-12, 3e-12), (1e5, 2e7), (99_999.9, 100_000.1)] {
        for width in [240, 500, 2000] {
            let points = (0..9).map(|i| (low + (high - low) * f64::from(i) / 8.0, low));
            let plot = Plot::new().title(long).x_label(long).y_label(long).size(width, 300);
            let svg = plot.series(Series::new().points(points)).to_svg();
            let mut last_end = 0.0;
            for element in svg.split("<text").skip(1) {
                let text = element.split(['<', '>']).nth(1).unwrap().trim();
                let (size, x) = (numbers(element, "font-size")[0], numbers(element, "x")[0]);
                if element.contains("\"middle\"") && !element.contains("rotate") {
                    let half = 0.42 * size * text.chars().count() as f64 / 2.0;
                    assert!(x - half >= 0.0 && x + half <= SCALE * f64::from(width), "{element}");
                }
                if element.contains("\"middle\"") && text.parse::<f64>().is_ok() {
                    // No digit is wider than 0.6 of the size.
                    let half = 0.6 * size * text.chars().count() as f64 / 2.0;
                    assert!(x - half > last_end, "{low} to {high}, {width}: {element}");
                    last_end = x + half;
                }
            }
            assert!(last_end > 0.0, "{svg}");
        }
    }
}

/// Width and height from the head of the file.
fn png_size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&png[12..16], b"IHDR");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn sizes_are_as_asked_for_within_limits() {
    assert_eq!(png_size(&everything().size(320, 280).to_png()), (320, 280));
    assert_eq!(png_size(&everything().size(0, 1).to_png()), (240, 240));
    assert!(everything().size(320, 280).to_svg().contains("width=\"320\" height=\"280\""));
}

#[test]
fn files_are_saved_by_their_extension() {
    let path = |name: &str| std::env::temp_dir().join(format!("marquardt-plot-{}-{name}", std::process::id()));
    let (svg, png) = (path("a.svg"), path("b.PNG"));
    everything().save(&svg).unwrap();
    everything().save(&png).unwrap();
    assert_eq!(std::fs::read_to_string(&svg).unwrap(), everything().to_svg());
    assert_eq!(png_size(&std::fs::read(&png).unwrap()), (360, 300));
    std::fs::remove_file(svg).unwrap();
    std::fs::remove_file(png).unwrap();

    let error = everything().save("plot.jpg").unwrap_err();
    assert_eq!(error.to_string(), "plot.jpg: a plot is saved as .svg or .png");
    assert!(matches!(everything().save("plot").unwrap_err(), PlotError::UnknownFormat { .. }));
    let nowhere = path("nowhere").join("plot.svg");
    let error = everything().save(&nowhere).unwrap_err();
    assert!(matches!(error, PlotError::Io { .. }) && error.to_string().starts_with(&nowhere.display().to_string()));
}

/// A million points make no file of hundreds of megabytes, and the outlier among them is drawn.
#[test]
fn of_very_many_points_some_are_drawn() {
    let cloud = |i: u32| ((0.618_034 * f64::from(i)).fract(), 10.0 * (0.754_878 * f64::from(i)).fract());
    let points: Vec<(f64, f64)> = (0..300_000).map(cloud).chain([(0.5, 40.0), (0.25, -30.0)]).collect();
    let with_errors = points.iter().map(|&(x, y)| (x, y, 0.3));
    let residuals = points.iter().map(|&(x, y)| (x, y - 5.0));
    let few = Series::new().name("few").points(data());
    let plot = Plot::new().series(Series::new().points_with_errors(with_errors).residuals(residuals)).series(few);
    let svg = plot.to_svg();
    assert!(svg.len() < 2_000_000, "{}", svg.len());
    assert_eq!(svg, plot.to_svg());
    let note = texts(&svg).into_iter().find(|text| text.ends_with("of 300007 points drawn")).unwrap();
    assert!(note.split(' ').next().unwrap().parse::<usize>().unwrap() > 1000, "{note}");
    // The axis reaches to both outliers; each stands alone, and so do the points of the other series.
    let heights = numbers(&svg, "cy");
    let (top, bottom) = heights.iter().fold((f64::INFINITY, 0.0_f64), |ends, &y| (ends.0.min(y), ends.1.max(y)));
    let highest = heights.iter().filter(|&&y| y < top + 3.0).count();
    assert!(highest <= 2 && bottom > 1500.0, "{highest} {top} {bottom}");
    assert!(!everything().to_svg().contains("points drawn"));
}

/// However many points, error bars, series and cells there are.
#[test]
fn svg_files_stay_below_a_megabyte() {
    let part = |i: usize, factor: f64| (i as f64 * factor).fract();
    let points = || (0..200_000).map(|i| (part(i, 0.618_033_988_7), part(i, 0.754_877_666_2)));
    let bars = Series::new().points_with_xy_errors(points().map(|(x, y)| (x, y, 0.01, 0.1)));
    let bars = bars.residuals(points()).curve((0..100_000).map(|i| (f64::from(i) / 1e5, part(i as usize, 0.377))));
    let several = |index: usize| {
        let curve = || (0..600).map(move |i| (f64::from(i) / 600.0, (0.1 * f64::from(i)).sin() + 0.01 * index as f64));
        let band = || curve().map(|(x, y)| (x, y - 0.1, y + 0.1));
        let series =
            Series::new().name(format!("series {index}")).points(points().skip(300 * index).take(300)).curve(curve());
        series
            .confidence_band(0.95, band())
            .prediction_band(0.95, band())
            .component("part", curve())
            .residuals(points().take(200))
    };
    let map =
        HeatMap::image(&ndarray::Array2::from_shape_fn((1500, 1500), |(i, j)| part(i * 1500 + j, 0.618_033_988_7)));
    let plots =
        [Plot::new().series(bars), (0..600).map(several).fold(Plot::new(), Plot::series), Plot::new().heat_map(map)];
    for plot in plots {
        let svg = plot.to_svg();
        assert!(svg.len() < 1_000_000, "{}", svg.len());
    }
}

#[test]
fn components_are_dashed_and_named() {
    let part = |factor: f64| data().map(move |(x, y)| (x, factor * y));
    let series =
        Series::new().points(data()).curve(curve()).component("peak", part(0.7)).component("ground", part(0.3));
    let svg = Plot::new().series(series.clone()).to_svg();
    assert!(["data", "fit", "peak", "ground"].iter().all(|name| texts(&svg).contains(name)), "{:?}", texts(&svg));
    let dashes = svg.lines().filter(|line| line.starts_with("<polyline") && line.contains("#009E73")).count();
    assert!(dashes > 30, "{dashes}");
    let many = (0..5).map(|_| series.clone()).fold(Plot::new(), Plot::series).to_svg();
    assert!(many.matches("<polyline").count() < 60, "components of many series are left out");
}

/// The names of the legend are in the corner that is asked for.
#[test]
fn legends_stand_where_they_are_asked_for() {
    let plot = |place| everything().size(900, 680).legend(place).to_svg();
    let place = |svg: &str| {
        let (before, _) = svg.split_once("95 % prediction band").unwrap();
        let element = before.rsplit("<text").next().unwrap();
        let number = |name: &str| {
            element.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<f64>()
        };
        (number("x").unwrap() / SCALE > 450.0, number("y").unwrap() / SCALE > 240.0)
    };
    for (corner, expected) in [
        (LegendPlace::UpperLeft, (false, false)),
        (LegendPlace::UpperRight, (true, false)),
        (LegendPlace::LowerLeft, (false, true)),
        (LegendPlace::LowerRight, (true, true)),
    ] {
        assert_eq!(place(&plot(corner)), expected, "{corner:?}");
    }
    assert!(!plot(LegendPlace::None).contains("prediction band"));
}

/// Strange maps are drawn as far as they go, as SVG and as pixels.
#[test]
fn maps_of_all_kinds_are_drawn() {
    use ndarray::{Array2, array};
    let maps = [
        HeatMap::image(&Array2::<f64>::zeros((0, 0))),
        HeatMap::image(&array![[f64::NAN]]),
        HeatMap::image(&array![[1.0, f64::INFINITY], [1e300, -1e300]]).label("<a> & b"),
        HeatMap::image(&Array2::from_shape_fn((1, 3000), |(_, j)| j as f64)),
        HeatMap::surface(&array![[1.0, 2.0]], 3.0..3.0, f64::NAN..1.0).points([(3.0, f64::NAN, 1.0), (3.0, 0.5, 2.0)]),
        HeatMap::surface(&array![[1.0, 2.0]], -1e308..1e308, 0.0..1e-300).colors(5.0..=5.0),
    ];
    for (index, map) in maps.into_iter().enumerate() {
        let plot = Plot::new().title("A map").heat_map(map).size(300, 240);
        assert!(!plot.to_svg().contains("NaN") && plot.to_svg().ends_with("</svg>\n"), "{index}");
        assert_eq!(png_size(&plot.to_png()), (300, 240), "{index}");
    }
}

/// The first row of an image is at the top, cells are squares, and colours go from the least to the greatest value.
#[test]
fn images_are_upright() {
    let map = HeatMap::image(&ndarray::array![[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]).colors(0.0..=1.0);
    let svg = Plot::new().heat_map(map.clone()).to_svg();
    let image = svg.split("<image").nth(1).unwrap();
    let number = |name: &str| {
        image.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
    };
    assert!((number("width") / number("height") - 2.0).abs() < 0.02);
    let png = Plot::new().heat_map(map).size(300, 240).to_png();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let middle: Vec<&[u8]> = (0..240).map(|y| &pixels[3 * (300 * y + 140)..][..3]).collect();
    let place = |color: [u8; 3]| middle.iter().position(|pixel| *pixel == color).unwrap();
    assert!(place([68, 1, 84]) < place([253, 231, 37]));
}

#[test]
fn plots_stand_side_by_side() {
    let one = |name: &str| Plot::new().title(name).series(Series::new().points(data()));
    let svg = one("left").beside(one("right")).to_svg();
    let place = |name: &str| {
        let (before, _) = svg.split_once(&format!("\n{name}\n")).unwrap();
        before.rsplit("<text x=\"").next().unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
    };
    assert!(place("left") < 450.0 * SCALE && place("right") > 450.0 * SCALE);
}

#[test]
fn the_label_of_residuals_is_whole_at_all_sizes() {
    for size in [(240, 240), (300, 240), (400, 300), (600, 450), (900, 640), (4096, 4096)] {
        let svg = everything().residual_label("residual / σ").size(size.0, size.1).to_svg();
        assert!(texts(&svg).contains(&"residual / σ"), "{size:?}: {:?}", texts(&svg));
    }
}

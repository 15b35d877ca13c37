//! Dates and times of day as numbers.

use std::fmt;

use super::DateOrder;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// First letters of the months, in English and German.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän"],
    &["feb"],
    &["mar", "mär", "mrz"],
    &["apr"],
    &["may", "mai"],
    &["jun"],
    &["jul"],
    &["aug"],
    &["sep"],
    &["oct", "okt"],
    &["nov"],
    &["dec", "dez"],
];

/// A date, a time of day or since some event, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    /// Days since 1970.
    days: Option<i64>,
    /// Seconds of the day.
    seconds: Option<f64>,
}

impl Moment {
    /// Reads dates such as `2024-05-01`, `1.5.2024` and `01-May-24`, times such as `12:30` and `12:30:00.5`, and both, one after the other.
    /// Of other dates, `order` says which number is the month.
    pub(super) fn parse(text: &str, order: Option<DateOrder>) -> Option<Self> {
        let begin = text.find(':').map(|colon| text[..colon].rfind([' ', 'T']).map_or(0, |at| at + 1));
        let (date, time) = text.split_at(begin.unwrap_or(text.len()));
        let date = date.trim_end_matches([' ', 'T', ',']);
        let days = if date.is_empty() { None } else { Some(days(date, order)?) };
        let seconds = if time.is_empty() { None } else { Some(seconds(time, days.is_some())?) };
        (days.is_some() || seconds.is_some()).then_some(Moment { days, seconds })
    }
}

impl Moment {
    /// Returns true for a date, with a time of day or without.
    pub(super) fn has_date(self) -> bool {
        self.days.is_some()
    }
}

impl fmt::Display for Moment {
    /// As `2024-05-01`, `2024-05-01T12:30:00.5` or `12:30:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, seconds) = match (self.days, self.seconds) {
            // A zone may lead to another day.
            (Some(days), Some(seconds)) => {
                let more = (seconds / DAY).floor();
                (Some(days + more as i64), Some(seconds - DAY * more))
            }
            (None, Some(seconds)) if seconds < 0.0 => (None, Some(seconds + DAY)),
            other => other,
        };
        if let Some(days) = days {
            let [year, month, day] = date(days);
            write!(f, "{year:04}-{month:02}-{day:02}")?;
        }
        let Some(seconds) = seconds else { return Ok(()) };
        let minutes = (seconds / 60.0).floor();
        let (hours, minutes, seconds) = ((minutes / 60.0).floor(), minutes.rem_euclid(60.0), seconds - 60.0 * minutes);
        let (separator, zero) = (if days.is_some() { "T" } else { "" }, if seconds < 10.0 { "0" } else { "" });
        write!(f, "{separator}{hours:02}:{minutes:02}:{zero}{seconds}")
    }
}

/// Moments of a column, in days after the first if that is a date alone, else in seconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Times {
    first: Moment,
    /// The first one as the file writes it.
    text: String,
    last: f64,
    midnights: usize,
}

impl Times {
    pub(super) fn new(first: Moment, text: &str) -> Self {
        Times { first, text: text.to_owned(), last: 0.0, midnights: 0 }
    }

    /// The time of a moment, if it has a date as the first one. A time of day more than twelve hours before the last one is of the next day.
    pub(super) fn since_first(&mut self, moment: Moment) -> Option<f64> {
        let seconds = moment.seconds.unwrap_or(0.0) - self.first.seconds.unwrap_or(0.0);
        let Some((days, first)) = moment.days.zip(self.first.days) else {
            if moment.days.is_some() || self.first.days.is_some() {
                return None;
            }
            let mut time = seconds + DAY * self.midnights as f64;
            if time < self.last - 0.5 * DAY {
                self.midnights += 1;
                time += DAY;
            }
            self.last = time;
            return Some(time);
        };
        let days = (days - first) as f64;
        Some(if self.first.seconds.is_some() { DAY * days + seconds } else { days + seconds / DAY })
    }

    /// Origin of the numbers.
    pub(super) fn origin(&self) -> Moment {
        self.first
    }

    /// Counts from another origin, in days if it is a date and in seconds otherwise: returns the factor of a number and the summand
    /// behind it. A time of day more than twelve hours before that of the origin is of the next day. Returns nothing, and changes nothing, if
    /// only one of both origins has a date.
    pub(super) fn move_to(&mut self, origin: Moment, text: &str) -> Option<(f64, f64)> {
        let (of_days, are_seconds) = match (self.first.days, origin.days) {
            (Some(first), Some(origin)) => (DAY * (first - origin) as f64, self.first.seconds.is_some()),
            (None, None) => (0.0, true),
            _ => return None,
        };
        let mut difference = of_days + self.first.seconds.unwrap_or(0.0) - origin.seconds.unwrap_or(0.0);
        if self.first.days.is_none() && difference < -0.5 * DAY {
            difference += DAY;
        }
        let own = if are_seconds { 1.0 } else { DAY };
        let unit = if origin.seconds.is_some() { 1.0 } else { DAY };
        *self = Times { first: origin, text: text.to_owned(), ..self.clone() };
        Some((own / unit, difference / unit))
    }

    /// The unit and the origin of the numbers, as part of a sentence.
    pub(super) fn description(&self) -> String {
        let unit = if self.first.seconds.is_some() { "seconds" } else { "days" };
        let midnights = match self.midnights {
            0 => String::new(),
            count => format!(", with a day more after each of {count} midnights"),
        };
        format!("{unit} since {}{midnights}", self.text)
    }
}

/// Days from 1970 to a date.
fn days(text: &str, order: Option<DateOrder>) -> Option<i64> {
    let has_name = text.contains(char::is_alphabetic);
    let separator = text.chars().find(|c| !c.is_alphanumeric())?;
    let parts: Vec<&str> = match has_name {
        true => text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect(),
        false => text.split(separator).collect(),
    };
    let &[first, second, third] = &parts[..] else { return None };
    let [year, month, day] = match (first.len(), separator) {
        (4, '-' | '/' | '.' | ' ') => [first, second, third],
        _ if has_name && first.starts_with(char::is_alphabetic) => [third, first, second],
        _ if has_name => [third, second, first],
        (_, '.') => [third, second, first],
        (_, '-' | '/') => match order? {
            DateOrder::DayMonthYear => [third, second, first],
            DateOrder::MonthDayYear => [third, first, second],
        },
        _ => return None,
    };
    let digits = |text: &str| text.parse::<i64>().ok().filter(|_| text.len() < 3 && !text.starts_with(['+', '-']));
    let year = match year.len() {
        4 => year.parse().ok().filter(|year: &i64| *year > 0)?,
        // As POSIX has it.
        2 => digits(year).map(|year| if year < 69 { 2000 + year } else { 1900 + year })?,
        _ => return None,
    };
    let named = || {
        let name = month.to_lowercase();
        MONTHS.iter().position(|names| names.iter().any(|begin| name.starts_with(begin))).map(|index| index as i64 + 1)
    };
    let month = if has_name { named()? } else { digits(month).filter(|month| (1..=12).contains(month))? };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
    let day = digits(day).filter(|day| (1..=length).contains(day))?;
    // Years begin in March, so that the leap day is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469)
}

/// Year, month and day of days since 1970.
fn date(days: i64) -> [i64; 3] {
    // Days since the first of March of the year 0, and eras of 400 years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let year = 400 * era + year + i64::from(month > 9);
    [year, if month < 10 { month + 3 } else { month - 9 }, day - (153 * month + 2) / 5 + 1]
}

/// Seconds of a time of day, by universal time if a zone stands behind it; without a date, hours may be more than 23.
fn seconds(text: &str, has_date: bool) -> Option<f64> {
    let text = text.trim_end_matches(['Z', 'z']);
    let half = text.trim_end_matches('.').to_ascii_lowercase();
    let afternoon = if half.ends_with("am") { Some(0.0) } else { half.ends_with("pm").then_some(12.0) };
    let text = if afternoon.is_some() { text.trim_end_matches(|c: char| !c.is_ascii_digit()) } else { text };
    let zone_at = text.find(['+', '-', '−']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(zone_at);
    let parts: Vec<&str> = clock.trim().split(':').collect();
    let (seconds, others) = parts.split_last()?;
    let is_number =
        |text: &&str| text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(|c| c.is_ascii_digit());
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    if !(others.iter().chain([&whole]).all(is_number) && is_number(&fraction)) {
        return None;
    }
    let last: f64 = format!("{whole}.{fraction}").parse().ok()?;
    let number = |text: &str| text.parse::<f64>().ok();
    let has_fraction = *seconds != whole;
    let [hours, minutes, seconds] = match others {
        [minutes] if has_fraction => [0.0, number(minutes)?, last],
        [hours] => [number(hours)?, last, 0.0],
        [hours, minutes] => [number(hours)?, number(minutes)?, last],
        _ => return None,
    };
    let hours = afternoon.map_or(hours, |afternoon| hours % 12.0 + afternoon);
    let is_sound = (hours < 24.0 || !has_date) && (minutes < 60.0 || hours == 0.0 && !has_date) && seconds < 61.0;
    let offset = if zone.is_empty() { 0.0 } else { zone_seconds(zone)? };
    is_sound.then_some(3600.0 * hours + 60.0 * minutes + seconds - offset)
}

/// Seconds that a zone such as `+02:00`, `+0200` or `-05` is ahead of universal time.
fn zone_seconds(text: &str) -> Option<f64> {
    let sign = if text.starts_with('+') { 1.0 } else { -1.0 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let hours = digits.get(..2)?.parse::<f64>().ok()?;
    let minutes = digits.get(2..4).map_or(Some(0.0), |text| text.parse().ok())?;
    matches!(digits.len(), 2 | 4).then_some(sign * (3600.0 * hours + 60.0 * minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_they_are_read() {
        for (text, expected) in [
            ("28.2.2024", "2024-02-28"),
            ("29-Feb-2024", "2024-02-29"),
            ("1900-03-01", "1900-03-01"),
            ("2000-12-31", "2000-12-31"),
            ("0001-01-01", "0001-01-01"),
            ("2024-01-01T00:30+02:00", "2023-12-31T22:30:00"),
            ("2024-02-28 14:30:00.25", "2024-02-28T14:30:00.25"),
            ("5/1/2024 1:02 am", "2024-05-01T01:02:00"),
            ("36:00:05", "36:00:05"),
            ("9:05", "09:05:00"),
            ("00:30+02:00", "22:30:00"),
        ] {
            let moment = Moment::parse(text, Some(DateOrder::MonthDayYear)).unwrap();
            assert_eq!(moment.to_string(), expected);
            assert_eq!(Moment::parse(expected, None).map(|moment| moment.to_string()).as_deref(), Some(expected));
        }
        for days in (-700_000..700_000).step_by(37) {
            let text = Moment { days: Some(days), seconds: None }.to_string();
            assert_eq!(Moment::parse(&text, None).unwrap().days, Some(days), "{text}");
        }
    }

    #[test]
    fn origins_move() {
        let moved = |first: &str, origin: &str, number: f64| {
            let mut times = Times::new(Moment::parse(first, None)?, first);
            let (factor, summand) = times.move_to(Moment::parse(origin, None)?, origin)?;
            Some(number * factor + summand)
        };
        assert_eq!(moved("2024-03-01", "2024-02-28", 5.0), Some(7.0));
        assert_eq!(moved("2024-03-01", "2024-02-29T12:00", 1.0), Some(1.5 * DAY));
        assert_eq!(moved("2024-03-01T06:00", "2024-03-01", 0.25 * DAY), Some(0.5));
        assert_eq!(moved("12:30", "12:00:00", 1.0), Some(1801.0));
        assert_eq!(moved("00:15", "23:00:00", 1.0), Some(4501.0));
        assert_eq!(moved("00:30+02:00", "22:30:00", 5.0), Some(5.0));
        assert!(moved("12:30", "2024-03-01", 1.0).is_none() && moved("2024-03-01", "12:30", 1.0).is_none());
    }

    fn elapsed(first: &str, second: &str) -> Option<f64> {
        let [first_moment, second] = [first, second].map(|text| Moment::parse(text, Some(DateOrder::MonthDayYear)));
        Times::new(first_moment?, first).since_first(second?)
    }

    #[test]
    fn days_and_seconds_pass() {
        for (first, second, expected) in [
            ("2024-02-28", "2024-03-01", 2.0),
            ("1900-02-28", "1900-03-01", 1.0),
            ("1969-12-31", "2000-01-01", 10_958.0),
            ("28.2.2023", "01.03.23", 1.0),
            ("2024/02/28", "2024/03/01", 2.0),
            ("02/28/2024", "3/1/2024", 2.0),
            ("28-Feb-2024", "1-Mär-24", 2.0),
            ("May 1, 2024", "Jun 1, 2024", 31.0),
            ("2024-02-28T12:00:00Z", "2024-02-28 14:30:00.25", 9000.25),
            ("2024-02-28T23:00+02:00", "2024-02-29T00:00:00+0100", 7200.0),
            ("01.05.2024 11:59", "01.05.2024 12:01", 120.0),
            ("5/1/2024 11:59:00 AM", "5/1/2024 12:01:00 PM", 120.0),
            ("5/1/2024 12:01 am", "5/1/2024 1:01 AM", 3600.0),
            ("00:00:01,5", "36:00:00", 129_598.5),
            ("01:30.5", "2:30.5", 60.0),
            ("12:30", "12:31", 60.0),
            ("23:59:59", "00:00:01", 2.0),
            ("2024-02-28", "2024-02-28 12:00", 0.5),
        ] {
            assert_eq!(elapsed(first, second), Some(expected), "{first} {second}");
        }
        assert_eq!(elapsed("2024-01-01", "12:00"), None);
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "1",
            "1.5",
            "1.2.3",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "0000-01-01",
            "32.1.2024",
            "1-2-3-4",
            "12:60",
            "25:00 x",
            "1:2:3:4",
            ":30",
            "12:",
            "a:b",
            "1,234",
            "+1-02-2024",
            "2024-01-01 24:00",
            "x 12:00",
            "-1:00",
            "May",
            "1-Foo-2024",
            "1.5-3",
        ] {
            assert_eq!(Moment::parse(text, Some(DateOrder::DayMonthYear)), None, "{text}");
        }
        assert_eq!(Moment::parse("03/04/2024", None), None);
    }
}

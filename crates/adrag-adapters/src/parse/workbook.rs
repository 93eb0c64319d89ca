//! Excel workbooks: each sheet a heading, each row a record. Values as the program that saved them computed them; formulas,
//! charts and macros are not read.

use super::archive::Archive;
use super::builder::DocumentBuilder;
use super::failure::{ReadResult, Unreadable};
use super::records::Records;
use adrag_core::ports::{BlockKind, ParsedDocument};
use calamine::{Cell, Data, ExcelDateTime, Reader, SheetType, Xls, Xlsb, Xlsx};
use std::io::Cursor;

/// Digits a spreadsheet shows of a number at most; beyond them is the noise of binary fractions.
const DIGITS: usize = 15;

/// Reads a workbook of Excel 2007 or later.
pub(crate) fn read_zipped(bytes: &[u8], binary: bool) -> ReadResult<ParsedDocument> {
    let what = if binary { "XLSB" } else { "XLSX" };
    // The library unpacks by itself and knows no caps.
    Archive::open(bytes, what)?.prove()?;
    let mut builder = DocumentBuilder::default();
    if binary {
        let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes)).map_err(|error| refuse(what, error))?;
        for name in sheets(&book) {
            let mut sheet = Sheet::begin(&mut builder, &name)?;
            let mut cells = book
                .worksheet_cells_reader(&name)
                .map_err(|error| refuse(what, error))?;
            while let Some(cell) = cells.next_cell().map_err(|error| refuse(what, error))? {
                sheet.add(&mut builder, &owned(&cell))?;
            }
            sheet.end(&mut builder)?;
        }
    } else {
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| refuse(what, error))?;
        for name in sheets(&book) {
            let mut sheet = Sheet::begin(&mut builder, &name)?;
            let mut cells = book
                .worksheet_cells_reader(&name)
                .map_err(|error| refuse(what, error))?;
            while let Some(cell) = cells.next_cell().map_err(|error| refuse(what, error))? {
                sheet.add(&mut builder, &owned(&cell))?;
            }
            sheet.end(&mut builder)?;
        }
    }
    Ok(builder.finish("xlsx"))
}

/// Reads a workbook of Excel 97 to 2003.
pub(crate) fn read_xls(bytes: &[u8]) -> ReadResult<ParsedDocument> {
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| refuse("XLS", error))?;
    let mut builder = DocumentBuilder::default();
    for name in sheets(&book) {
        let mut sheet = Sheet::begin(&mut builder, &name)?;
        let range = book
            .worksheet_range(&name)
            .map_err(|error| refuse("XLS", error))?;
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            let at = (top + row as u32, left + column as u32);
            sheet.add(&mut builder, &Cell::new(at, value.clone()))?;
        }
        sheet.end(&mut builder)?;
    }
    Ok(builder.finish("xls"))
}

/// Names of the sheets that hold cells, in the workbook's order.
fn sheets<'a>(book: &impl Reader<Cursor<&'a [u8]>>) -> Vec<String> {
    book.sheets_metadata()
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| sheet.name.clone())
        .collect()
}

fn refuse(what: &str, error: impl std::fmt::Display) -> Unreadable {
    let error = error.to_string();
    if error.contains("password protected") {
        Unreadable::password()
    } else {
        Unreadable::corrupt(what, error)
    }
}

fn owned(cell: &Cell<calamine::DataRef<'_>>) -> Cell<Data> {
    Cell::new(cell.get_position(), Data::from(cell.get_value().clone()))
}

/// A sheet under way: its cells come row by row.
struct Sheet {
    records: Records,
    at: Option<u32>,
    row: Vec<(usize, String)>,
}

impl Sheet {
    fn begin(builder: &mut DocumentBuilder, name: &str) -> ReadResult<Self> {
        builder.push(BlockKind::Heading(1), name)?;
        Ok(Self {
            records: Records::default(),
            at: None,
            row: Vec::new(),
        })
    }

    fn add(&mut self, builder: &mut DocumentBuilder, cell: &Cell<Data>) -> ReadResult<()> {
        let text = shown(cell.get_value());
        if text.trim().is_empty() {
            return Ok(());
        }
        let (row, column) = cell.get_position();
        if self.at != Some(row) {
            self.flush(builder)?;
            self.at = Some(row);
        }
        self.row.push((column as usize, text));
        Ok(())
    }

    fn flush(&mut self, builder: &mut DocumentBuilder) -> ReadResult<()> {
        self.records.push(builder, &self.row)?;
        self.row.clear();
        Ok(())
    }

    fn end(mut self, builder: &mut DocumentBuilder) -> ReadResult<()> {
        self.flush(builder)?;
        self.records.finish(builder)
    }
}

/// A value as a person reads it in the sheet.
fn shown(value: &Data) -> String {
    match value {
        Data::Float(number) => number_text(*number),
        Data::DateTime(moment) => moment_text(moment),
        Data::Bool(true) => "TRUE".to_owned(),
        Data::Bool(false) => "FALSE".to_owned(),
        other => other.to_string(),
    }
}

fn number_text(number: f64) -> String {
    format!("{number:.precision$e}", precision = DIGITS - 1)
        .parse::<f64>()
        .unwrap_or(number)
        .to_string()
}

/// A date, with the time where there is one; a duration in hours.
fn moment_text(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        let seconds = (moment.as_f64() * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match (moment.as_f64() < 1.0, (hour, minute, second)) {
        (true, _) => time,
        (false, (0, 0, 0)) => date,
        (false, _) => format!("{date} {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::number_text;

    #[test]
    fn numbers_are_shown_without_binary_noise() {
        for (number, text) in [
            (3.0, "3"),
            (0.1 + 0.2, "0.3"),
            (-1.5e-3, "-0.0015"),
            (1e15, "1000000000000000"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }
}

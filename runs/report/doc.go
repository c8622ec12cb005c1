// Package report shows runs: figures, and one page that a person opens to see whether tuning
// helped, how it went, what it cost and how methods compare.
//
// [Load] reads a run folder, as the commands write it: config.json, metrics.jsonl, summary.json
// (missing during a run, or after it was killed) and lambda.npy. [Write] turns one or more of them
// into report.html. The page begins with the verdict and one figure. It is self-contained: its
// curves are interactive through uPlot, which is inside of it. A program that imports package
// figures gives it drawings for print and where there is no script, and a folder of figures
// beside it. Runs that differ in their seed alone are drawn as one line, their median, in a band
// from their least to their greatest; runs of unlike problems have tables of their own.
//
// The page is templates over the runs themselves: page.html frames it, and run.html has the tables
// and sentences of a run, whose functions are in tables.go. Measures, quantities and captions are
// data, in shown.json; value in measures.go reads a number by that name.
//
// [WriteParts] makes a page of runs that somebody has ranked, with tables and answers.
//
// [Figure] draws any lines and points in the same look, for other programs, and [Save] writes it as
// SVG. Colours can be distinguished with any colour vision, and each series has its
// own dashes and markers too; the legend is below the axes, where it covers nothing.
package report

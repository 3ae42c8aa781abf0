import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mean } from 'd3-array'
import { parse } from 'yaml'
import { z } from 'zod'

import { judgeLogs, logJudgeOptions } from '../../src/canary/logs/judge-logs.js'
import { readLogTemplate } from '../../src/canary/logs/model/log-template.js'
import { TemplateTable } from '../../src/canary/logs/grouping/template-table.js'
import { clusterLines, groupingQuality } from '../../test/support/logs/cluster-lines.js'
import type { GroupingQuality } from '../../test/support/logs/cluster-lines.js'
import { measureSystems } from '../../test/support/logs/generate-lines.js'
import { readLabelledLines } from '../../test/support/logs/read-labelled-lines.js'
import { readFlags, runParts, table } from '../lib/report.js'
import { SIMULATED, simulateIntervals } from './simulate-intervals.js'

/** `make bench-logs`: how well and how fast log lines are grouped and judged, and how often a canary is blamed for what is chance. */

const flags = readFlags({
  only: ['', 'some of sets,systems,looks; all where it is empty'],
  runs: ['200', 'that are simulated for each row; 1000 for figures that are quoted'],
  intervals: ['12', 'of each of these runs'],
  seed: ['20261121', 'of what is drawn at random'],
})
const RUNS = 5
const LINES = 200_000
const STYLES = join(process.cwd(), 'test/cases/analysis/logs/styles.yaml')
const SYSTEMS = join(process.cwd(), 'test/cases/analysis/logs/systems.yaml')
const SYSTEM_LINES = 2000
const Styles = z.record(z.string(), z.array(z.array(z.string())))
const MINUTE_MS = 60_000

interface Corpus {
  readonly name: string
  readonly lines: readonly string[]
  readonly events: readonly string[]
}

const QUALITY_COLUMNS = 'accuracy | groups F1 | templates'
const cellsOf = ({ accuracy, groupF1, templates }: GroupingQuality): number[] => [
  accuracy,
  groupF1,
  templates,
]

/** Sets with labels, how well they are grouped, and how fast. */
function sets(): Promise<void> {
  const row = table('Lines that people have labelled', `lines of | ${QUALITY_COLUMNS} | lines a CPU second`)
  const corpora = [stylesCorpus(), ...sharedCorpora()]
  const measured = corpora.map((corpus) => ({ ...corpus, quality: qualityOf(corpus) }))
  for (const { name, lines, quality } of measured) row(name, ...cellsOf(quality), linesPerSecond(lines))
  const shared = measured.slice(1).map(({ quality }) => quality)
  if (shared.length > 0) row(`mean of ${shared.length} shared sets`, ...cellsOf(meanOf(shared)))
  const judged = table(`Judged, ${LINES} lines on each side`, 'lines of | CPU s | MB')
  judged('all sets', judgeSeconds(corpora.flatMap(({ lines }) => lines)), process.memoryUsage.rss() / 2 ** 20)
  return Promise.resolve()
}

/** Made-up lines of systems, those that rules were tuned on and the others. */
function systems(): Promise<void> {
  const measured = measureSystems(SYSTEMS, SYSTEM_LINES, 1)
  const row = table(`${SYSTEM_LINES} made-up lines each`, `lines of | part | ${QUALITY_COLUMNS}`)
  for (const system of measured) row(system.name, system.part, ...cellsOf(system))
  for (const part of ['tuned', 'held', 'fresh', 'unseen', 'blind', 'last'] as const) {
    const of = measured.filter((system) => system.part === part)
    row(`mean of ${of.length}`, part, ...cellsOf(meanOf(of)))
  }
  return Promise.resolve()
}

/** How often the judge of logs blames a canary over all intervals of a run, with its error spent over them and without. */
function looks(): Promise<void> {
  const row = table(
    'Runs in which something cost points, %',
    'logs | any interval, not spent | any interval | last, not spent | last',
  )
  const [runs, intervals, seed] = [Number(flags.runs), Number(flags.intervals), Number(flags.seed)]
  for (const simulated of SIMULATED) {
    const [whole, spent] = [false, true].map((isSpent) =>
      simulateIntervals(simulated, { runs, intervals, seed, isSpent }),
    )
    const percent = (count = 0): number => (100 * count) / runs
    row(
      simulated.name,
      ...[whole?.atAnyInterval, spent?.atAnyInterval, whole?.atTheLast, spent?.atTheLast].map(percent),
    )
  }
  return Promise.resolve()
}

function meanOf(qualities: readonly GroupingQuality[]): GroupingQuality {
  const of = (value: (quality: GroupingQuality) => number): number => mean(qualities, value) ?? Number.NaN
  return {
    accuracy: of(({ accuracy }) => accuracy),
    groupF1: of(({ groupF1 }) => groupF1),
    templates: of(({ templates }) => templates),
  }
}

function qualityOf({ lines, events }: Corpus): GroupingQuality {
  return groupingQuality(lines, clusterLines(lines), events)
}

function stylesCorpus(): Corpus {
  const styles = Object.entries(Styles.parse(parse(readFileSync(STYLES, 'utf8'))))
  const labelled = styles.flatMap(([style, groups]) =>
    groups.flatMap((lines, group) => lines.map((line) => ({ line, event: `${style} ${group}` }))),
  )
  return {
    name: 'made-up styles',
    lines: labelled.map(({ line }) => line),
    events: labelled.map(({ event }) => event),
  }
}

function sharedCorpora(): Corpus[] {
  return readLabelledLines().map(({ name, lines }) => ({
    name,
    lines: lines.map(({ content }) => content),
    events: lines.map(({ event }) => event),
  }))
}

/** Lines in a second of processor time, the collector's with it, at the best of a few runs: others disturb a run, none makes it faster than it is. */
function linesPerSecond(lines: readonly string[]): number {
  const seconds = best(() => {
    const table = new TemplateTable()
    for (let line = 0; line < LINES; line += 1) table.add(lines[line % lines.length] ?? '')
    table.finish()
  })
  return Math.round(LINES / seconds)
}

function judgeSeconds(lines: readonly string[]): number {
  const side = {
    lines: Array.from({ length: LINES }, (_, n) => ({ atMs: n, text: lines[n % lines.length] ?? '' })),
    startMs: 0,
    endMs: Math.max(MINUTE_MS, LINES),
    isTruncated: false,
  }
  const input = { baseline: side, canary: side, seenTemplates: [], thresholds: { pass: 90, marginal: 70 } }
  const options = logJudgeOptions(readLogTemplate({ templateName: 'bench' }))
  return best(() => judgeLogs(input, options))
}

function best(work: () => unknown): number {
  const times = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return Math.min(...times) / 1e6
}

await runParts(flags.only, { sets, systems, looks })

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

import { judgeLogs, logJudgeOptions } from '../../src/analysis/logs/judge-logs.js'
import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import { TemplateTable } from '../../src/analysis/logs/grouping/template-table.js'
import { textTable } from '../../src/cli/output/text-table.js'
import { clusterLines, groupingQuality } from '../../test/support/logs/cluster-lines.js'
import type { GroupingQuality } from '../../test/support/logs/cluster-lines.js'
import { measureSystems } from '../../test/support/logs/generate-lines.js'
import { readLabelledLines } from '../../test/support/logs/read-labelled-lines.js'

/** `make bench-logs`: how fast (in processor time) lines are grouped and judged, and how well they are grouped. */

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

function main(): void {
  const corpora = [stylesCorpus(), ...sharedCorpora()]
  const measured = corpora.map((corpus) => ({ ...corpus, ...qualityOf(corpus) }))
  const rows = measured.map(({ name, lines, ...quality }) => [
    name,
    ...cellsOf(quality, 4),
    linesPerSecond(lines).toLocaleString('en'),
  ])
  console.log(
    textTable([['LINES OF', 'ACCURACY', 'GROUPS F1', 'TEMPLATES', 'LINES/CPU S'], ...rows], [1, 2, 3, 4]),
  )
  const shared = measured.slice(1)
  if (shared.length > 0) {
    const means = cellsOf(meanOf(shared), 4)
    console.log(
      `mean over ${shared.length} shared sets: accuracy ${means[0]}, groups ${means[1]}, templates ${means[2]}`,
    )
  }
  printSystems()
  console.log(judgeSpeed(corpora.flatMap(({ lines }) => lines)))
}

/** Grouping of made-up lines of systems, those that rules were tuned on and the others. */
function printSystems(): void {
  const systems = measureSystems(SYSTEMS, SYSTEM_LINES, 1)
  const means = (['tuned', 'held', 'fresh', 'unseen', 'blind', 'last'] as const).map((part) => {
    const of = systems.filter((system) => system.part === part)
    return [`mean of ${of.length}`, part, ...cellsOf(meanOf(of), 3)]
  })
  const rows = systems.map((system) => [system.name, system.part, ...cellsOf(system, 3)])
  const head = ['MADE-UP LINES OF', 'PART', 'ACCURACY', 'GROUPS F1', 'TEMPLATES']
  console.log(textTable([head, ...rows, ...means], [2, 3, 4]))
}

function cellsOf({ accuracy, groupF1, templates }: GroupingQuality, digits: number): string[] {
  return [accuracy, groupF1, templates].map((share) => share.toFixed(digits))
}

function meanOf(qualities: readonly GroupingQuality[]): GroupingQuality {
  const mean = (value: (quality: GroupingQuality) => number): number =>
    qualities.reduce((sum, quality) => sum + value(quality), 0) / qualities.length
  return {
    accuracy: mean(({ accuracy }) => accuracy),
    groupF1: mean(({ groupF1 }) => groupF1),
    templates: mean(({ templates }) => templates),
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

function judgeSpeed(lines: readonly string[]): string {
  const side = {
    lines: Array.from({ length: LINES }, (_, n) => ({ atMs: n, text: lines[n % lines.length] ?? '' })),
    startMs: 0,
    endMs: Math.max(MINUTE_MS, LINES),
    isTruncated: false,
  }
  const input = { baseline: side, canary: side, seenTemplates: [], thresholds: { pass: 90, marginal: 70 } }
  const options = logJudgeOptions(readLogTemplate({ templateName: 'bench' }))
  const seconds = best(() => judgeLogs(input, options))
  const memory = Math.round(process.memoryUsage.rss() / 2 ** 20)
  return `judged 2 x ${LINES.toLocaleString('en')} lines in ${seconds.toFixed(2)} s of processor time (${memory} MiB resident)`
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

main()

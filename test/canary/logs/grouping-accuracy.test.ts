import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

import { clusterLines, groupingAccuracy } from '../../support/logs/cluster-lines.js'
import { measureSystems } from '../../support/logs/generate-lines.js'
import { readLabelledLines } from '../../support/logs/read-labelled-lines.js'

const MIN_MEAN_ACCURACY = 0.99
const MIN_SET_ACCURACY = 0.98

const sets = readLabelledLines()
const title =
  sets.length === 0
    ? 'the shared lines with known templates are absent: nothing to group'
    : `the lines of ${sets.map(({ name }) => name).join(', ')} are grouped as people grouped them`

test(title, () => {
  const accuracies = sets.map(({ lines }) =>
    groupingAccuracy(
      clusterLines(lines.map(({ content }) => content)).map(({ id }) => id),
      lines.map(({ event }) => event),
    ),
  )
  for (const accuracy of accuracies) expect(accuracy).toBeGreaterThanOrEqual(MIN_SET_ACCURACY)
  const mean = accuracies.reduce((sum, accuracy) => sum + accuracy, 0) / Math.max(1, accuracies.length)
  if (sets.length > 0) expect(mean).toBeGreaterThanOrEqual(MIN_MEAN_ACCURACY)
})

const SYSTEMS = new URL('../../cases/analysis/logs/systems.yaml', import.meta.url)

describe('made-up lines of well-known programs', () => {
  const measured = measureSystems(SYSTEMS, 1000, 1)
  it.each([
    ['that no rule was tuned on', 'held', 0.96, 0.9],
    ['that rules were tuned on', 'tuned', 0.96, 0.84],
    ['that were looked at later', 'fresh', 0.89, 0.7],
    ['that were not looked at for long', 'unseen', 0.88, 0.8],
    ['in formats of other kinds', 'blind', 0.76, 0.55],
    ['that were written down last, and not looked at', 'last', 0.93, 0.83],
  ] as const)('are mostly grouped as people would: those %s', (_, part, least, leastGroups) => {
    const of = measured.filter((system) => system.part === part)
    const mean = (values: readonly number[]): number =>
      values.reduce((sum, value) => sum + value, 0) / values.length
    expect(mean(of.map(({ accuracy }) => accuracy))).toBeGreaterThan(least)
    expect(mean(of.map(({ groupF1 }) => groupF1))).toBeGreaterThan(leastGroups)
  })
})

const STYLES = new URL('../../cases/analysis/logs/styles.yaml', import.meta.url)
const Styles = z.record(z.string(), z.array(z.array(z.string()).min(1)))
const styles = Object.entries(Styles.parse(parse(readFileSync(STYLES, 'utf8'))))

describe('the messages of other systems', () => {
  it.each(styles)('are told apart, and no more than that: %s', (_style, groups) => {
    const ids = clusterLines(groups.flat()).map(({ id }) => id)
    const found = groups.map((lines, group) => {
      const start = groups.slice(0, group).flat().length
      return [...new Set(ids.slice(start, start + lines.length))]
    })
    // Each group has one id, and as no two groups share it the ids are as many as the groups.
    expect(found.filter((of) => of.length > 1).map((of, group) => [groups[group]?.[0], of])).toEqual([])
    expect(new Set(found.flat()).size).toBe(groups.length)
  })
})

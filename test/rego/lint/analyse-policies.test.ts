import { readFileSync } from 'node:fs'

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'

import { collectSources } from '../../../src/rego/compile/collect-sources.js'
import { readData } from '../../../src/rego/data/base-document.js'
import { parseModules } from '../../../src/rego/modules/parse-modules.js'
import { analysePolicies } from '../../../src/rego/lint/analyse-parts.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import { regoModule } from '../../support/rego-modules.js'

const Case = z.object({
  title: z.string(),
  modules: z.record(z.string(), z.array(z.string())),
  data: z.record(z.string(), z.unknown()),
  /** `code file:row:col text`, where the text is a part of the message. */
  findings: z.array(z.string()),
})
const cases = z.array(Case).parse(JSON.parse(readFileSync('test/cases/lint.json', 'utf8')))
const opa = await findOpa({ env: process.env })
const OPTIONS = { staticPackages: ['static.**'] }

test.each(cases)('$title', async ({ modules, data, findings }) => {
  const files = Object.entries(modules).map(([file, lines]) => ({ file, text: lines.join('\n') }))
  const parsed = await parseModules(opa, files)
  const base = parseRegoText(JSON.stringify(data))
  const found = await analysePolicies(parsed, base instanceof RegoObject ? base : new RegoObject([]), OPTIONS)
  const told = found.map(
    ({ code, message, location }) =>
      `${code} ${location?.file ?? ''}:${location?.row ?? 0}:${location?.col ?? 0} ${message}`,
  )
  expect(told).toHaveLength(findings.length)
  for (const [index, finding] of findings.entries()) {
    const { place = '', text = '' } = /^(?<place>\S+ [^ ]+:\d*) (?<text>.*)$/.exec(finding)?.groups ?? {}
    expect(told[index]?.startsWith(place), `${told[index] ?? ''} starts with ${place}`).toBe(true)
    expect(told[index]).toContain(text)
  }
})

test.each(['policies', 'test/cases/http/parity/policies'])(
  'nothing is told of %s that is not so',
  async (directory) => {
    const sources = await collectSources([directory], { includeTests: true })
    const modules = await parseModules(opa, sources.rego)
    expect(await analysePolicies(modules, readData(sources.data).data, OPTIONS)).toEqual([])
  },
)

test('modules of any kind are looked through without an error', async () => {
  const texts = fc.sample(regoModule(), { numRuns: 200, seed: 11 })
  const modules = await parseModules(
    opa,
    texts.map((text, index) => ({ file: `m${index}.rego`, text })),
  )
  // One at a time: what one replaces by `with` all may read.
  const findings = modules.map((module) => analysePolicies([module], new RegoObject([]), OPTIONS))
  const found = (await Promise.all(findings)).flat()
  expect(modules).toHaveLength(texts.length)
  for (const { code, message, location } of found) {
    expect(code).toMatch(/^[a-z_]+$/)
    const line =
      texts[Number(/\d+/.exec(location?.file ?? '')?.[0])]?.split('\n')[(location?.row ?? 0) - 1] ?? ''
    if (code === 'undefined_data')
      expect(line.slice((location?.col ?? 0) - 1), message).toMatch(/^(?:data|h)\b/)
  }
  expect(found.length).toBeGreaterThan(0)
})

test('a thousand packages are read in small slices', async () => {
  const text = readFileSync('policies/static/wait_time.rego', 'utf8').replace(/data\.settings/g, 'data.none')
  const modules = Array.from({ length: 1000 }, (_, index) => ({
    file: `${index}.rego`,
    text,
    version: 1 as const,
    packagePath: ['static', `p${index}`],
    rules: [{ path: ['deny'], isDynamic: false, isFunction: false, excludesData: false }],
  }))
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await analysePolicies(modules, new RegoObject([]), OPTIONS)
  isDone = true
  // A turn lasts some five milliseconds, all of the work fifty and more.
  expect(turns).toBeGreaterThan(4)
})

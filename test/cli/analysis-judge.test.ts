import { afterAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const steady = Array.from({ length: 40 }, (_, index) => 100 + ((index * 7) % 11))
const metric = (name: string, experiment: (number | null)[], canary: object = {}): object => ({
  name,
  groups: ['all'],
  analysisConfigurations: { canary },
  values: { control: steady, experiment },
})
const config = (...metrics: object[]): string =>
  JSON.stringify({
    metrics,
    classifier: { groupWeights: { all: 100 }, scoreThresholds: { pass: 90, marginal: 60 } },
  })
const higher = steady.map((value) => 2 * value)

const workspace = makeWorkspace({
  'good.json': config(metric('latency', steady.toReversed())),
  'bad.json': config(metric('latency', higher, { critical: true }), metric('load', steady)),
  'unsure.json': config(metric('latency', [1, 2]), metric('load', steady)),
  'few.json': JSON.stringify({ metrics: [{ name: 'm', values: { control: [1, 2], experiment: [10, 11] } }] }),
  'wrong.json': JSON.stringify({ metrics: [{ name: 'a', values: { control: ['x'] } }] }),
  'misspelt.json': config(metric('latency', higher, { criticl: true })),
  'marked.json': `\ufeff${config(metric('latency', steady.toReversed()))}`,
  'malformed.json': '{\n  "metrics": [NaN]\n}',
  'good.yaml':
    'metrics:\n- name: m\n  values: {control: [1, 2, 3, 4, 5, 6, 7, 8], experiment: [8, 7, 6, 5, 4, 3, 2, 1]}\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const judge = (...args: string[]) => runTidegate(['analysis', 'judge', ...args], { cwd })

describe('tidegate analysis judge', () => {
  test.each([
    ['good.json', 0, 'Success'],
    ['good.yaml', 0, 'Success'],
    ['marked.json', 0, 'Success'],
    ['unsure.json', 1, 'Review'],
    ['bad.json', 1, 'Fail'],
  ])('%s ends with %d and says %s', async (file, exitCode, verdict) => {
    const run = await judge(file)
    expect(run).toMatchObject({ exitCode, stderr: '' })
    expect(run.stdout).toContain(`${verdict} with`)
  })

  test('warns of a member that is not known, on standard error and in the JSON', async () => {
    const says =
      'metrics[0].analysisConfigurations.canary.criticl is not known and does nothing: did you mean critical?'
    const [text, json] = [await judge('misspelt.json'), await judge('misspelt.json', '--format', 'json')]
    expect(text.stderr.replace(/\s+/g, ' ')).toBe(`warning: ${says} `)
    expect(JSON.parse(json.stdout)).toMatchObject({ warnings: [says] })
  })

  test('says where a file is no JSON', async () => {
    const run = await judge('malformed.json')
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain("malformed.json:2:15: invalid character 'N'")
  })

  test('prints a table with a reason below each metric that did not pass', async () => {
    const { stdout } = await judge('bad.json')
    expect(stdout).toMatch(/^METRIC +RESULT +SCORE/)
    expect(stdout).toMatch(/latency +High \(critical\) +0 .*\n {2}All values are far above|The typical value/)
    expect(stdout).toMatch(/load +Pass +100/)
  })

  test('prints the shape of a Kayenta result as JSON', async () => {
    const { stdout, exitCode } = await judge('bad.json', '--format', 'json')
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      score: { score: 0, classification: 'Fail' },
      groupScores: [{ name: 'all' }],
      results: [
        { name: 'latency', classification: 'High', critical: true, groups: ['all'] },
        { name: 'load', classification: 'Pass', critical: false, controlMetadata: { stats: { count: 40 } } },
      ],
    })
  })

  test('judges as Kayenta where it is asked to', async () => {
    const wanted = { results: [{ classification: 'High', resultMetadata: { ratio: 7 } }] }
    const kayenta = await judge('few.json', '--judge', 'kayenta', '--format', 'json')
    expect(JSON.parse(kayenta.stdout)).toMatchObject(wanted)
    const own = await judge('few.json', '--format', 'json')
    expect(JSON.parse(own.stdout)).toMatchObject({ results: [{ classification: 'Inconclusive' }] })
    const tolerant = await judge(
      'few.json',
      '--judge',
      'kayenta',
      '--tolerance',
      '0.95',
      '--confidence',
      '0.95',
      '--format',
      'json',
    )
    expect(JSON.parse(tolerant.stdout)).toMatchObject({ results: [{ classification: 'Pass' }] })
  })

  test.each([
    [['wrong.json'], /values\.control\[0\] must be a number/],
    [['nowhere.json'], /nowhere\.json/],
    [['good.json', '--confidence', '98'], /--confidence must be a number above 0 and below 1, not '98'/],
    [['good.json', '--interval', '3/2'], /--interval must have the form/],
    [['good.json', '--look', '3/2'], /--interval must have the form/],
    [['good.json', '--judge', 'mine'], /--judge/],
    [[], /file/],
  ])('%j is wrong use, in a sentence', async (args, message) => {
    const run = await judge(...args)
    expect(run.exitCode).toBe(2)
    expect(run.stderr).toMatch(message)
    expect(run.stdout).toBe('')
  })
})

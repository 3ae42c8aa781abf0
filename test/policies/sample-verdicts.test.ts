import { beforeAll, describe, expect, test } from 'vitest'

import { findOpa } from '../../src/rego/opa/find-opa.js'
import { regoVersionFlags } from '../../src/rego/opa/opa-release.js'
import { runOpa } from '../../src/rego/opa/run-opa.js'
import {
  expectedPipelineVerdicts,
  expectedRuntimeVerdicts,
  policiesFolder,
  readSample,
  sampleFiles,
} from '../support/sample-cases.js'

/** The results of all policies for one sample. */
interface Verdict {
  readonly main: { readonly allow: boolean; readonly deny: readonly string[] }
  readonly runtime: Record<string, { readonly deny: readonly string[] }>
}

const QUERY = `[{"main": main, "runtime": runtime} |
  sample := input.samples[_]
  main := data.system.main with input as sample
  runtime := {name: {"deny": deny} | deny := data.runtime[name].deny} with input as sample
]`

/**
 * One run of the program answers for all samples, since starting it takes longer than judging them.
 */
async function judgeAll(samples: readonly unknown[]): Promise<Verdict[]> {
  const opa = await findOpa({ env: process.env })
  const args = [
    'eval',
    '--data',
    policiesFolder,
    '--stdin-input',
    '--format',
    'raw',
    '--strict-builtin-errors',
    ...(await regoVersionFlags(opa, 0)),
  ]
  const run = await runOpa(opa, [...args, QUERY], { stdin: JSON.stringify({ samples }) })
  expect(run.stderr).toBe('')
  expect(run.exitCode, run.stdout).toBe(0)
  return JSON.parse(run.stdout) as Verdict[]
}

async function judge<Name>(named: readonly (readonly [Name, unknown])[]): Promise<Map<Name, Verdict>> {
  const verdicts = await judgeAll(named.map(([, sample]) => sample))
  return new Map(named.map(([name], index) => [name, verdicts[index]!]))
}

describe('the sample pipelines', () => {
  const expected = expectedPipelineVerdicts()
  const wrappers = {
    new: (pipeline: unknown) => ({ new: pipeline }),
    pipeline: (pipeline: unknown) => ({ pipeline }),
    bare: (pipeline: unknown) => pipeline,
  }
  const cases = sampleFiles('pipelines').flatMap((file) =>
    Object.keys(wrappers).map((wrapper) => ({ file, wrapper: wrapper as keyof typeof wrappers })),
  )
  let verdicts: Map<string, Verdict>
  beforeAll(async () => {
    verdicts = await judge(
      cases.map(({ file, wrapper }) => [
        `${file} ${wrapper}`,
        wrappers[wrapper](readSample('pipelines', file)),
      ]),
    )
  })

  test('each have an expected verdict', () => {
    expect(Object.keys(expected).sort()).toEqual(sampleFiles('pipelines'))
  })

  test.each(cases)('$file gets its verdict as $wrapper', ({ file, wrapper }) => {
    const { deny } = expected[file]!
    expect(verdicts.get(`${file} ${wrapper}`)?.main).toEqual({ allow: deny.length === 0, deny })
  })
})

/** A definition sent unchanged must not be treated as an execution. */
const UNREAD = 'the input has stages that nobody reads; send the pipeline as input.new'

describe('the sample runtime checks', () => {
  const expected = expectedRuntimeVerdicts()
  const files = sampleFiles('runtime')
  let verdicts: Map<string, Verdict>
  beforeAll(async () => {
    verdicts = await judge(files.map((file) => [file, readSample('runtime', file)]))
  })

  test('each have an expected verdict', () => {
    expect(Object.keys(expected).sort()).toEqual(files)
  })

  test.each(files)('%s gets its verdict', (file) => {
    const { path, deny } = expected[file]!
    expect(verdicts.get(file)?.runtime[path.replace('runtime/', '')]?.deny).toEqual(deny)
  })

  test.each(files)('%s is no definition, and its stages are allowed by no static policy', (file) => {
    const { stages } = readSample('runtime', file) as { stages?: unknown }
    const deny = stages === undefined || stages === null ? [] : [UNREAD]
    expect(verdicts.get(file)?.main).toEqual({ allow: deny.length === 0, deny })
  })
})

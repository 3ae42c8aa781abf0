import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ciReport } from '../../src/cli/check/ci-reports.js'
import type { CheckResult } from '../../src/cli/check/check-report.js'
import { StageFinder } from '../../src/cli/check/locate-stages.js'
import { AppError } from '../../src/errors/app-error.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const WAIT = [
  'package static.wait',
  'deny[text] {',
  '  stage := input.new.stages[_]',
  '  stage.waitTime > 60',
  `  text := sprintf("stage '%v' waits %v s", [label(stage), stage.waitTime])`,
  '}',
  'label(stage) = stage.name { stage.name } else = stage.refId { true }',
].join('\n')
const MANY = Array.from({ length: 10_000 }, (_, at) => ({ refId: `${at}`, name: `Wait ${at}`, waitTime: 99 }))
const workspace = makeWorkspace({
  'policies/wait.rego': WAIT,
  'policies/owner.rego': 'package static.owner\ndeny["nobody owns it"] { input.new.owner == "" }\n',
  'a.yaml': [
    '# Two pipelines.',
    'name: first',
    'stages: &all',
    '  - name: Quick',
    '    waitTime: 1',
    '  - name: Soak',
    '    waitTime: 99',
    '  - {refId: "7", waitTime: 98}',
    '---',
    'name: second',
    'owner: ""',
    'stages: []',
  ].join('\n'),
  'b.json':
    '[\n  {"name": "é", "stages": [{"refId": 1, "waitTime": 61}]},\n  {"name": "ok", "stages": []}\n]\n',
  'wrapped.json': '{"input": {"new": {\n"stages": [\n {"name": "Soak", "waitTime": 99}]}}}',
  'other.json': '{"kind": "Service"}',
  'many.json': JSON.stringify({ name: 'many', stages: MANY }),
  'many.yaml': `name: many\nstages:\n${MANY.map(({ name }) => `- name: ${name}\n  waitTime: 99\n`).join('')}`,
  'odd name,%.json': JSON.stringify({
    name: 'x\u001b[2K\r\n::error::y|<b>',
    stages: [{ name: '::error file=a::b%0A\u0007', waitTime: 99 }],
  }),
})
const { path: cwd } = workspace
afterAll(workspace.remove)
const env = { TIDEGATE_POLICIES_BUNDLES: 'b.tar.gz' }
const check = (...args: readonly string[]) => runTidegate(['check', ...args], { cwd, env })
beforeAll(async () => {
  await runTidegate(['build', 'policies', '-o', 'b.tar.gz'], { cwd })
})

/** The control characters and bidirectional marks that no report may contain. */
const CONTROLS = /[^\P{Cc}\n]|[\u202a-\u202e]/u
const HOSTILE: CheckResult[] = [
  {
    file: 'a|b,c:\u001b[2K.json',
    name: 'x\u001b[1A\r\n::error::y\u009b2K\u202e',
    position: { line: 3, column: 5 },
    as: 'pipeline',
    allowed: false,
    denials: [
      { package: 'p<q>', text: '100% <img src=x> | @team #1 ]]> & "no"\n::error::z\ud800\ufffe\u0000' },
    ],
    warnings: [],
  },
  { file: '-', name: undefined, error: new AppError('invalid', '::error::broken\u0007') },
]

describe('a location', () => {
  test('is that of the stage that a reason names, else of the document, in text and JSON', async () => {
    const { exitCode, stdout } = await check('--format', 'json', 'a.yaml', 'b.json', 'wrapped.json')
    expect(exitCode).toBe(1)
    const { files } = JSON.parse(stdout) as { files: { denials: object[] }[] }
    expect(files.flatMap(({ denials }) => denials)).toEqual([
      { package: 'static.wait', text: "stage '7' waits 98 s", line: 8, column: 5, stage: '7' },
      { package: 'static.wait', text: "stage 'Soak' waits 99 s", line: 6, column: 5, stage: 'Soak' },
      { package: 'static.owner', text: 'nobody owns it', line: 10, column: 1 },
      { package: 'static.wait', text: "stage '1' waits 61 s", line: 2, column: 28, stage: '1' },
      { package: 'static.wait', text: "stage 'Soak' waits 99 s", line: 3, column: 2, stage: 'Soak' },
    ])
    const text = (await check('b.json')).stdout
    expect(text).toContain("  static.wait: stage '1' waits 61 s (b.json:2:28)\n")
  })

  test.each([
    ["stage 'Deploy' is late", 'Deploy'],
    ['stage Deploy is late', 'Deploy'],
    ['Deploy: too late', 'Deploy'],
    ['the release needs Deploy to production first', 'Deploy to production'],
    ["'Deploy to production' comes after 'Deploy'", 'Deploy to production'],
    ['refId 2 has no account', 'Approve'],
    ['stage 2 has no account', 'Approve'],
    ['waits 2 seconds', undefined],
    ['must not Deploy on Friday', undefined],
    ["pipeline 'Deploy' has no owner", undefined],
    ["stage 'Twin' is late", undefined],
    ['stage Deployment is late', undefined],
  ])('of "%s" is that of %s', (reason, name) => {
    const position = { line: 1, column: 1 }
    const finder = new StageFinder([
      { name: 'Deploy', refId: '1', position },
      { name: 'Approve', refId: '2', position },
      { name: 'Deploy to production', refId: '3', position },
      { name: 'Twin', refId: '4', position },
      { name: 'Twin', refId: '5', position },
    ])
    expect(finder.find(reason)?.name).toBe(name)
  })

  test.each(['many.json', 'many.yaml'])('is found for each of 10,000 stages of %s', async (file) => {
    const { exitCode, stdout } = await check('--format', 'json', file)
    expect(exitCode).toBe(1)
    const { files } = JSON.parse(stdout) as { files: { denials: { text: string; stage: string }[] }[] }
    const denials = files[0]?.denials ?? []
    expect(denials).toHaveLength(10_000)
    expect(denials.filter(({ text, stage }) => text !== `stage '${stage}' waits 99 s`)).toEqual([])
  })
})

describe('--format github', () => {
  test('prints an annotation for each reason and error, and exits as text does', async () => {
    expect(await check('--format', 'github', 'a.yaml', 'other.json', 'absent.json')).toEqual({
      exitCode: 2,
      stdout: [
        "::error file=a.yaml,line=8,col=5,title=static.wait%3A first::stage '7' waits 98 s",
        "::error file=a.yaml,line=6,col=5,title=static.wait%3A first::stage 'Soak' waits 99 s",
        '::error file=a.yaml,line=10,col=1,title=static.owner%3A second::nobody owns it',
        '::error file=other.json,line=1,col=1,title=cannot be checked::not a pipeline definition: it has none of stages, template, config, triggers, application. Use --as if it is one.',
        '::error file=absent.json,title=cannot be checked::file absent.json not found',
        '2 pipelines in 3 files: 0 allowed, 2 denied, 2 errors; evaluated as {"new": ...}',
        '',
      ].join('\n'),
      stderr: '',
    })
  })

  test('escapes names and reasons, so that each problem is one command', () => {
    const lines = ciReport('github', HOSTILE).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe(
      '::error file=a|b%2Cc%3A\ufffd[2K.json,line=3,col=5,title=p<q>%3A x\ufffd[1A%0A%3A%3Aerror%3A%3Ay\ufffd2K\ufffd::100%25 <img src=x> | @team #1 ]]> & "no"%0A::error::z\ud800\ufffe\ufffd',
    )
    expect(lines[1]).toBe('::error title=cannot be checked::::error::broken\ufffd')
  })
})

describe('--format sarif', () => {
  test('prints a SARIF log with a rule for each package', async () => {
    const { exitCode, stdout } = await check('--format', 'sarif', 'a.yaml', 'odd name,%.json')
    expect(exitCode).toBe(1)
    const log = JSON.parse(stdout) as {
      runs: { tool: { driver: { rules: { id: string }[] } }; results: unknown[] }[]
    }
    expect(validateSarif(log)).toEqual([])
    expect(log.runs[0]?.tool.driver.rules.map(({ id }) => id)).toEqual(['static.owner', 'static.wait'])
    expect(log.runs[0]?.results[0]).toEqual({
      ruleId: 'static.wait',
      ruleIndex: 1,
      level: 'error',
      message: { text: "first: stage '7' waits 98 s" },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: 'a.yaml' }, region: { startLine: 8, startColumn: 5 } },
        },
      ],
    })
    expect(stdout).toContain('"uri": "odd%20name%2C%25.json"')
    expect(stdout).not.toMatch(CONTROLS)
  })

  test('reports what cannot be checked as a result, and that the run failed', () => {
    const log: unknown = JSON.parse(ciReport('sarif', HOSTILE))
    expect(validateSarif(log)).toEqual([])
    expect(log).toMatchObject({
      runs: [
        { invocations: [{ executionSuccessful: false }], results: [{}, { ruleId: 'tidegate.not_checked' }] },
      ],
    })
  })

  test('prints a log without results if nothing is denied', () => {
    const log: unknown = JSON.parse(ciReport('sarif', []))
    expect(validateSarif(log)).toEqual([])
    expect(log).toMatchObject({ runs: [{ results: [], invocations: [{ executionSuccessful: true }] }] })
  })
})

describe('--format junit', () => {
  test('prints a suite for each file and a case for each pipeline', async () => {
    const { exitCode, stdout } = await check('--format', 'junit', 'b.json', 'other.json')
    expect(exitCode).toBe(2)
    expect(stdout).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="tidegate check" tests="3" failures="1" errors="1">',
        '  <testsuite name="b.json" tests="2" failures="1" errors="0">',
        '    <testcase classname="b.json" name="é" file="b.json" line="2">',
        `      <failure message="stage '1' waits 61 s" type="static.wait">b.json:2:28: static.wait: stage '1' waits 61 s</failure>`,
        '    </testcase>',
        '    <testcase classname="b.json" name="ok" file="b.json" line="3"/>',
        '  </testsuite>',
        '  <testsuite name="other.json" tests="1" failures="0" errors="1">',
        '    <testcase classname="other.json" name="other.json" file="other.json" line="1">',
        '      <error message="not a pipeline definition: it has none of stages, template, config, triggers, application. Use --as if it is one." type="cannot be checked">other.json:1:1: not a pipeline definition: it has none of stages, template, config, triggers, application. Use --as if it is one.</error>',
        '    </testcase>',
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    )
  })

  test('escapes text and replaces characters that XML does not allow', () => {
    const xml = ciReport('junit', HOSTILE)
    expect(xml).toContain('100% &lt;img src=x&gt; | @team #1 ]]&gt; &amp; &quot;no&quot;')
    expect(xml).not.toMatch(/[\ufffe\uffff]|\p{Cs}/u)
    expect(xml).not.toMatch(CONTROLS)
  })
})

describe('--format markdown', () => {
  test('prints a table with the totals', async () => {
    expect((await check('--format', 'markdown', 'b.json')).stdout).toBe(
      [
        '| Location | Pipeline | Policy | Level | Reason |',
        '| --- | --- | --- | --- | --- |',
        "| b.json:2:28 | é | static.wait | error | stage '1' waits 61 s |",
        '',
        '2 pipelines in 1 file: 1 allowed, 1 denied; evaluated as &#123;"new": ...&#125;',
        '',
      ].join('\n'),
    )
  })

  test('escapes pipes, HTML, Markdown and mentions', () => {
    const [, , row = ''] = ciReport('markdown', HOSTILE).split('\n')
    expect(row).toContain('| a\\|b,c:\ufffd&#91;2K.json:3:5 |')
    expect(row).toContain('100% &#60;img src=x&#62; \\| @&#8203;team #&#8203;1 &#93;&#93;&#62; &#38; "no"')
    expect(row.replaceAll('\\|', '').split('|')).toHaveLength(7)
  })

  test('fits into a comment', async () => {
    const { stdout } = await check('--format', 'markdown', 'many.json')
    expect(stdout.length).toBeLessThan(65_536)
    expect(stdout).toMatch(/\n\d+ more reasons are omitted: a comment would be too long\.\n/)
  })
})

describe('every format', () => {
  test.each(['text', 'json', 'junit', 'sarif', 'github', 'markdown'])(
    'keeps control characters and commands of names from %s',
    async (format) => {
      const { exitCode, stdout } = await check('--format', format, 'odd name,%.json')
      expect(exitCode).toBe(1)
      expect(stdout).not.toMatch(CONTROLS)
      const commands = stdout.split('\n').filter((line) => line.trimStart().startsWith('::'))
      expect(commands).toHaveLength(format === 'github' ? 1 : 0)
    },
  )

  test.each(['junit', 'sarif', 'github', 'markdown'])('reports an empty directory in %s', async (format) => {
    workspace.write({ 'empty/readme.txt': '' })
    const { exitCode, stdout } = await check('--format', format, 'empty')
    expect({ exitCode, stdout }).toEqual({
      exitCode: 2,
      stdout: expect.stringContaining('this directory contains no') as string,
    })
  })

  test('is named if another one is given', async () => {
    expect(await check('--format', 'xml', 'b.json')).toMatchObject({
      exitCode: 2,
      stderr: "tidegate: --format must be junit, sarif, github, markdown, text, pretty or json, not 'xml'\n",
    })
  })
})

/** The parts of the SARIF 2.1.0 schema that reports use. Like there, other members are errors. */
function validateSarif(log: unknown): string[] {
  const closed = (properties: Record<string, object>, required: readonly string[]) => ({
    type: 'object',
    additionalProperties: false,
    properties,
    required,
  })
  const text = { type: 'string' }
  const positive = { type: 'integer', minimum: 1 }
  const level = { enum: ['none', 'note', 'warning', 'error'] }
  const message = closed({ text }, ['text'])
  const list = (items: object) => ({ type: 'array', items })
  const rule = closed({ id: text, shortDescription: message, defaultConfiguration: closed({ level }, []) }, [
    'id',
  ])
  const driver = closed({ name: text, version: text, rules: { ...list(rule), uniqueItems: true } }, ['name'])
  const uri = { type: 'string', pattern: "^[\\w\\-.~:/?#\\[\\]@!$&'()*+,;=%]+$" }
  const region = closed({ startLine: positive, startColumn: positive }, [])
  const physicalLocation = closed({ artifactLocation: closed({ uri }, []), region }, ['artifactLocation'])
  const result = closed(
    {
      ruleId: text,
      ruleIndex: { type: 'integer', minimum: -1 },
      level,
      message,
      locations: list(closed({ physicalLocation }, [])),
    },
    ['message'],
  )
  const run = closed(
    {
      tool: closed({ driver }, ['driver']),
      columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
      invocations: list(closed({ executionSuccessful: { type: 'boolean' } }, ['executionSuccessful'])),
      results: list(result),
    },
    ['tool'],
  )
  const schema = closed({ $schema: text, version: { const: '2.1.0' }, runs: list(run) }, ['version', 'runs'])
  const ajv = new Ajv()
  ajv.validate(schema, log)
  return (ajv.errors ?? []).map(({ instancePath, message: problem }) => `${instancePath} ${problem}`)
}

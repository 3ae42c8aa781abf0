import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

import { stageBody } from '../support/canary-bodies.js'
import { FILE_ANALYSIS, analysisIn } from '../support/file-analysis.js'
import { findProgram } from '../support/find-program.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { startLoopbackServer } from '../support/loopback-server.js'
import type { LoopbackServer } from '../support/loopback-server.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

/** The files of docs/examples, against a service that runs. */
const EXAMPLES = join(PROJECT_ROOT, 'docs/examples')
const FILES = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
const read = (file: string): string => readFileSync(join(EXAMPLES, file), 'utf8')
const MINUTE_MS = 60_000
const START_MS = Math.floor(Date.now() / MINUTE_MS - 90) * MINUTE_MS
const hasTools = findProgram('jq') !== undefined && findProgram('curl') !== undefined
if (!hasTools) process.stderr.write('jq or curl is not installed: the scripts of docs/examples are not run\n')

const workspace = makeWorkspace({
  'policies/static.rego':
    'package static.name\n\nimport rego.v1\n\ndeny contains "a name is needed" if not input.new.name\n',
  'policies/blackout.rego':
    'package runtime.blackout_window\n\nimport rego.v1\n\ndeny contains "closed" if input.application == "closed"\n',
  'definitions/shop.json': JSON.stringify({ ...FILE_ANALYSIS, lifetimeMinutes: 60 }),
  'data/stable.csv': series(100),
  'data/healthy.csv': series(100),
  'good.json': JSON.stringify({ name: 'deploy', application: 'shop', stages: [] }),
  'shop.json': JSON.stringify({ name: 'deploy', application: 'shop', stages: [] }),
  'denied.json': JSON.stringify({ application: 'shop' }),
  'empty.json': '',
  'list.json': JSON.stringify([{ application: 'shop' }]),
  'two.json': '{"name":"deploy"}{"application":"shop"}',
  'bad.json': JSON.stringify({ application: 'shop' }),
})
let tidegate: TidegateProcess
beforeAll(async () => {
  tidegate = await startTidegate({ workspace, config: { analysis: analysisIn(workspace.path) } })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

function series(level: number): string {
  const rows = Array.from({ length: 200 }, (_, minute) => {
    const value = level + 5 * Math.sin(minute * 2.4)
    return `${new Date(START_MS - 30 * MINUTE_MS + minute * MINUTE_MS).toISOString()},${value}`
  })
  return `time,latency\n${rows.join('\n')}\n`
}

interface ScriptEnd {
  readonly code: number
  readonly output: string
}

function runScript(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ScriptEnd> {
  return new Promise((resolve) => {
    const options = {
      env: { PATH: process.env['PATH'] ?? '', TIDEGATE_URL: tidegate.url, POLL_SECONDS: '1', ...env },
      timeout: 60_000,
    }
    execFile('sh', [join(EXAMPLES, 'scripts', name), ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr }),
    )
  })
}

const Section = z.record(z.string(), z.unknown())
const Configuration = z.looseObject({ auth: Section, gates: Section, analysis: Section })
const Pipeline = z.looseObject({
  application: z.string(),
  name: z.string(),
  stages: z.array(z.looseObject({ refId: z.string(), type: z.string(), name: z.string() })),
})

describe('the examples', () => {
  test.each(FILES.filter((file) => /\.ya?ml$/.test(file)))('%s is YAML', (file) => {
    for (const document of parseAllDocuments(read(file))) expect(document.errors).toEqual([])
  })

  test('of the configuration is one', async () => {
    const file = join(EXAMPLES, 'orchestrator/tidegate.yaml')
    const { exitCode, stderr } = await runTidegate(['config', '--config', file])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  test('of a pipeline is saved, and the example of the configuration takes it through all its stages', async () => {
    const pipeline = Pipeline.parse(JSON.parse(read('orchestrator/stages.json')))
    const { application, name, stages } = pipeline
    const saved = await postJson(tidegate.url, '/v1/staticPolicy/eval', { input: { new: pipeline } })
    expect(saved.status).toBe(200)
    const { auth, gates, analysis } = Configuration.parse(parse(read('orchestrator/tidegate.yaml')))
    const definitions = join(EXAMPLES, 'orchestrator', String(analysis['definitions']))
    const configured = await startTidegate({
      ...{ workspace, dataDir: 'configured' },
      config: { auth, gates, analysis: { ...analysis, definitions } },
    })
    const urls = {
      approvalCallbackURL: 'https://gate.example.org/y',
      rejectionCallbackURL: 'https://gate.example.org/n',
    }
    const bodies: Readonly<Record<string, object>> = {
      policy: {
        application,
        name,
        stage: 'Hours',
        startTime: 1_718_000_000_000,
        executionId: '01J0ABCDEF',
        trigger: { user: 'ana' },
        payloadConstraint: [],
      },
      approval: { ...urls, executionId: '01J0ABCDEF', toolConnectorParameters: [] },
      verification: stageBody({ application }),
    }
    const answers = []
    for (const { refId, type, name: stage } of stages) {
      const path = `/platformservice/v6/applications/${application}/pipeline/${name}/reference/${refId}/gates/${stage}?type=${type}`
      const { gateUrl } = objectOf(await ask(configured.url, { path }))
      const { status, text } = await postJson(configured.url, new URL(String(gateUrl)).pathname, bodies[type])
      answers.push([type, status, status < 300 || text])
    }
    await configured.end('SIGTERM')
    expect(answers).toEqual([
      ['policy', 200, true],
      ['approval', 202, true],
      ['verification', 202, true],
    ])
  })

  test.each([
    ['shop', []],
    ['closed', ['closed']],
  ])('of the web metric evaluates a policy about %s', async (application, reasons) => {
    const Template = z.object({
      spec: z.object({
        metrics: z.tuple([
          z.object({
            provider: z.object({ web: z.object({ url: z.string(), jsonBody: z.unknown() }) }),
          }),
        ]),
      }),
    })
    const [document] = parseAllDocuments(read('argo-rollouts/web-metric.yaml'))
    const { web } = Template.parse(document?.toJS()).spec.metrics[0].provider
    const text = JSON.stringify(web.jsonBody).replaceAll('{{args.application}}', application)
    const answer = await postJson(tidegate.url, new URL(web.url).pathname, JSON.parse(text))
    expect([answer.status, objectOf(answer)['result']]).toEqual([200, reasons])
  })

  test('of Flagger rolls back after a denial or failure, and analyses a canary with traffic once', () => {
    const Hook = z.object({
      type: z.string(),
      metadata: z.object({ type: z.literal('bash'), cmd: z.string() }),
    })
    const Canary = z.object({
      spec: z.object({
        analysis: z.strictObject({
          interval: z.string(),
          threshold: z.literal(1),
          stepWeight: z.number().positive(),
          maxWeight: z.number(),
          webhooks: z.array(Hook),
        }),
      }),
    })
    const [document] = parseAllDocuments(read('flagger/canary.yaml'))
    const { webhooks, stepWeight, maxWeight } = Canary.parse(document?.toJS()).spec.analysis
    expect(maxWeight).toBe(stepWeight)
    // Failures of these count against the canary. Hooks that confirm something are only waited for.
    expect(webhooks.map(({ type }) => type)).toEqual(['pre-rollout', 'rollout'])
  })

  test('name scripts and files that are there', () => {
    const pages = [...FILES.filter((file) => /\.(?:ya?ml|sh)$|Jenkinsfile/.test(file)).map(read)].join('\n')
    const named = [...pages.matchAll(/(?:docs\/examples|^|\s)\/?scripts\/([\w-]+\.sh)/g)].map(
      ([, name]) => name,
    )
    expect(new Set(named)).toEqual(new Set(['check-pipeline.sh', 'analyse-canary.sh']))
  })
})

describe.skipIf(!hasTools)('the scripts of the examples', () => {
  test('let a definition pass, show the denials of another, and pass nothing undecided', async () => {
    const [good, bad] = [join(workspace.path, 'good.json'), join(workspace.path, 'bad.json')]
    expect(await runScript('check-pipeline.sh', [good])).toMatchObject({ code: 0 })
    expect(await runScript('check-pipeline.sh', [good, bad])).toEqual({
      code: 1,
      output: `${good}: allowed\n${bad}: a name is needed\n`,
    })
    expect((await runScript('check-pipeline.sh', [bad, good])).code).toBe(1)
    const away = { TIDEGATE_URL: 'http://127.0.0.1:1' }
    expect((await runScript('check-pipeline.sh', [good], away)).code).toBe(2)
    const wrong = { TIDEGATE_URL: `${tidegate.url}/nowhere` }
    expect((await runScript('check-pipeline.sh', [good], wrong)).code).toBe(2)
  })

  test('pass nothing undecided if their output cannot be written', () => {
    const script = join(EXAMPLES, 'scripts/check-pipeline.sh')
    const env = { PATH: process.env['PATH'] ?? '', TIDEGATE_URL: `${tidegate.url}/nowhere` }
    const args = ['-c', 'exec sh "$0" "$@" 2>&-', script, join(workspace.path, 'good.json')]
    expect(spawnSync('sh', args, { env }).status).toBeGreaterThan(0)
  })

  test.each([
    ['no file', []],
    ['a file that is not there', ['none.json']],
    ['an empty file', ['empty.json']],
    ['a list of definitions', ['list.json']],
    ['two definitions, of which nobody would read the second', ['two.json']],
  ])('let nothing pass that is %s', async (_, files) => {
    const paths = files.map((file) => join(workspace.path, file))
    expect((await runScript('check-pipeline.sh', paths)).code).toBe(2)
  })

  test('end with the verdict of an analysis', async () => {
    expect(await runScript('analyse-canary.sh', ['nobody', '1'])).toMatchObject({ code: 2 })
    const ended = await runScript('analyse-canary.sh', ['shop', '0.05'])
    // Three seconds contain no point of a one-minute series, so the run does not advance.
    expect([ended.code, ended.output]).toEqual([1, expect.stringMatching(/^(?:Fail|Review), score /)])
  }, 60_000)

  const told = (overallResult: string, status = 'COMPLETED'): Polled => [
    200,
    JSON.stringify({
      status: { complete: true, status },
      canaryResult: { overallResult, overallScore: 90, message: 'a\nb \\ "c"', canaryReportURL: 'http://r' },
    }),
  ]
  const running: Polled = [200, '{"status":{"complete":false,"status":"RUNNING"},"canaryResult":{}}']
  test.each<[string, number, RegExp, Polled[]]>([
    ['a success', 0, /^Success, score 90: a\nb \\ "c"\nhttp:\/\/r$/m, [running, told('Success')]],
    ['a review', 1, /^Review/, [running, told('Review')]],
    ['a failure', 1, /^Fail/, [told('Fail')]],
    ['a run that somebody cancelled', 1, /^Success/, [told('Success', 'CANCELLED')]],
    [
      'a success after a moment without the service',
      0,
      /^Success/,
      [[502, '<p>'], running, [429, ''], told('Success')],
    ],
    ['a token that ended', 2, /no verdict \(401\): no token/, [running, [401, 'no token']]],
    ['a run that is no longer known', 2, /no verdict \(404\)/, [[404, told('Fail', 'CANCELLED')[1]]]],
    ['another server in its place', 2, /no verdict \(200\): <p>/, [[200, '<p>']]],
    ['a service that does not come back', 2, /no verdict \(503\)/, [[503, '']]],
  ])('end with %s', async (_, code, output, polls) => {
    const server = await startLoopbackServer(({ method }, response, nth) => {
      const [status, body] =
        method === 'POST' ? [202, '{"canaryId":7}'] : (polls[nth - 2] ?? polls.at(-1) ?? [500, ''])
      response.writeHead(status).end(body)
    })
    const env = { TIDEGATE_URL: server.origin, POLL_SECONDS: '0' }
    const ended = await runScript('analyse-canary.sh', ['shop', '1'], env)
    expect(ended.output).toMatch(output)
    expect(ended.code).toBe(code)
    await server.close()
  })
})

/** A status and a body that a poll is answered with. */
type Polled = readonly [status: number, body: string]

/** Runs a hook of type bash and returns its status, like Flagger's load tester. */
function startLoadTester(): Promise<LoopbackServer> {
  const Hook = z.object({ metadata: z.object({ type: z.literal('bash'), cmd: z.string() }) })
  return startLoopbackServer(({ body }, response) => {
    const { cmd } = Hook.parse(JSON.parse(body)).metadata
    const command = cmd
      .replaceAll('/scripts/', `${join(EXAMPLES, 'scripts')}/`)
      .replaceAll('/pipelines/', `${workspace.path}/`)
    const env = { PATH: process.env['PATH'] ?? '', TIDEGATE_URL: tidegate.url, POLL_SECONDS: '1' }
    execFile('bash', ['-c', command], { env }, (error) =>
      response.writeHead(error === null ? 200 : 500).end(),
    )
  })
}

describe.skipIf(!hasTools)('the hooks of Flagger', () => {
  test.each([
    ['let a definition that nothing denies go on', 'shop.json', 200],
    ['stop one that is denied', 'denied.json', 500],
  ])('%s', async (_, file, status) => {
    const loadTester = await startLoadTester()
    const [document] = parseAllDocuments(read('flagger/canary.yaml'))
    const Policies = z.object({
      spec: z.object({ analysis: z.object({ webhooks: z.array(z.looseObject({})) }) }),
    })
    const hook = Policies.parse(document?.toJS()).spec.analysis.webhooks[0]
    const metadata = JSON.parse(JSON.stringify(hook?.['metadata']).replace('shop.json', file)) as object
    const sent = {
      name: 'shop',
      namespace: 'delivery',
      phase: 'Progressing',
      checksum: '85d557f47b',
      metadata,
    }
    const answer = await fetch(loadTester.origin, { method: 'POST', body: JSON.stringify(sent) })
    expect(answer.status).toBe(status)
    await loadTester.close()
  })

  test('that are sent to the Data API itself have no input, and a warning says so', async () => {
    const sent = {
      name: 'shop',
      namespace: 'delivery',
      phase: 'Progressing',
      checksum: '85d557f47b',
      metadata: {},
    }
    const answer = await postJson(tidegate.url, '/v1/data/runtime/blackout_window/deny', sent)
    expect([answer.status, objectOf(answer)['warning']]).toMatchObject([200, { code: 'api_usage_warning' }])
    expect((await postJson(tidegate.url, '/v1/staticPolicy/eval', sent)).status).toBe(400)
  })
})

describe('tidegate orchestrator doctor', () => {
  test('reports the missing entries of each side', async () => {
    const { exitCode, stdout } = await runTidegate(['orchestrator', 'doctor', '--url', tidegate.url])
    expect(exitCode).toBe(1)
    for (const line of [
      `ok       service: responds at ${tidegate.url}`,
      'ok       saved pipelines: static policies can be evaluated without a token (200)',
      `ok       gates of stages: stages are sent to ${tidegate.url}`,
      'warning  gates of forms: not created: choices in stage forms have no effect',
      'ok       forms, runtime policies: 1 choice',
      'warning  forms, environments: no choices',
      'warning  events: none has come',
      'warning  storage service: not named',
      'WRONG    gateway: http://127.0.0.1:8084 does not respond',
    ])
      expect(stdout).toContain(line)
    expect((await ask(tidegate.url, { path: '/livez' })).status).toBe(200)
  })
})

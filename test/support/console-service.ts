import { afterAll, beforeAll } from 'vitest'

import { analysisIn, FILE_ANALYSIS } from './file-analysis.js'
import { latencies } from './analysis-files.js'
import { pastCanary } from './analysis-service.js'
import { ask, objectOf, postJson } from './http-client.js'
import { as, makeRequests, token } from './page-service.js'
import { changeEvent, changeStage, pipelineEvent, pipelineExecution } from './orchestrator-events.js'
import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { waitUntil } from './wait-until.js'
import { makeWorkspace } from './workspace.js'

const RELEASE = `# METADATA
# title: Release window
# description: Releases happen on working days, with a ticket.
# custom:
#   owner: release-leads
package release.window

import rego.v1

# A release needs a ticket.
deny contains "the release names no ticket" if not input.ticket

deny contains sprintf("%s is a weekend", [input.day]) if {
  input.day in {"Saturday", "Sunday"}
}
`
const OWNERS = `package static.owners

import rego.v1

deny contains sprintf("the pipeline %s names no owner", [input.new.name]) if not input.new.owner
`

const TESTS = `package release.window_test

import data.release.window

test_ticket if "the release names no ticket" in window.deny with input as {"day": "Monday"}

test_sunday if {
	window.deny == {"Sunday is no weekend"} with input as {"day": "Sunday", "ticket": "OPS-1"}
}

test_saturday if count(window.deny) == 2 with input as {"day": "Saturday"}
`

/** Ids of what the console shows. */
export interface ConsoleIds {
  readonly approval: number
  readonly analysis: number
  /** An analysis of the same application whose canary is slower. */
  readonly slowAnalysis: number
  readonly decision: string
  readonly pipeline: number
}

export const EXECUTION = '01JCONSOLE0RUN'

/** The built program with a little of everything: what a console of a small company shows. */
export function useConsoleService() {
  const workspace = makeWorkspace({
    'policies/release.rego': RELEASE,
    'policies/release_test.rego': TESTS,
    'policies/owners.rego': OWNERS,
    'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
    'data/stable.csv': latencies(100),
    'data/healthy.csv': latencies(104),
    'data/slow.csv': latencies(150),
  })
  let tidegate: TidegateProcess
  let ids: ConsoleIds | undefined
  beforeAll(async () => {
    const tokens = [
      ...[token('ana', ['approver', 'auditor']), token('bo', ['approver']), token('eve', ['auditor'])],
      ...[token('orca', ['orchestrator']), token('al', ['author']), token('root', ['admin'])],
    ]
    const gate = { application: 'shop', pipeline: 'prod-rollout', stage: 'Approve the release' }
    tidegate = await startTidegate({
      workspace,
      config: {
        auth: { tokens },
        callbacks: { allowLoopback: true },
        policies: { staticPackages: ['static.*'] },
        analysis: analysisIn(workspace.path),
        gates: { definitions: [{ id: 7, name: 'Release', ...gate, commentRequired: true }] },
      },
    })
    ids = await fill(tidegate.url)
  }, 120_000)
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })
  const url = (): string => tidegate.url
  const { page, post, signIn } = makeRequests(url)
  return { url, page, post, signIn, trigger: (id: string) => triggerGate(tidegate.url, id), ids: () => ids! }
}

async function fill(url: string): Promise<ConsoleIds> {
  await begin(url, '01JCONSOLE0OLD', '1.4.0', 'blue')
  const earlier = await triggerGate(url, '01JCONSOLE0OLD')
  const review = { method: 'PUT', path: `/approvalGateInstances/${earlier}/review` }
  const headers = { 'content-type': 'application/json', ...as('ana') }
  await ask(url, { ...review, headers, body: '{"action":"approve","comment":"OPS-11 is done"}' })
  await begin(url, EXECUTION, '1.5.0', 'green')
  const approval = await triggerGate(url, EXECUTION)
  const decision = await decide(url, { day: 'Saturday' })
  await decide(url, { day: 'Monday', ticket: 'OPS-12' })
  const saved = { application: 'shop', name: 'prod-rollout', id: '7c1e0c5e', stages: [] }
  await postJson(
    url,
    '/platform/echo',
    { ...changeEvent([changeStage('savePipeline', { pipeline: saved })]), eventId: 'saved-1' },
    as('orca'),
  )
  const analysis = await analyse(url, 'healthy')
  const slowAnalysis = await analyse(url, 'slow')
  const pipeline = await waitUntil(
    async () => {
      const { pipelines } = objectOf(await ask(url, { path: '/pipelines', headers: as('eve') }))
      return (pipelines as { readonly id: number }[])[0]?.id
    },
    () => 'the pipeline is not in the registry',
  )
  return { approval, analysis, slowAnalysis, decision, pipeline }
}

/** Runs an analysis of past data of a version; returns its number. */
async function analyse(url: string, version: string): Promise<number> {
  const body = { ...pastCanary(version), executionId: EXECUTION }
  const started = await postJson(url, '/autopilot/registerCanary', body, as('orca'))
  const id = Number(objectOf(started)['canaryId'])
  await waitUntil(
    async () => {
      const run = objectOf(await ask(url, { path: `/analysis/${id}`, headers: as('eve') }))
      return Number(run['intervalsDone']) > 0 ? true : undefined
    },
    () => 'the analysis has no interval',
  )
  return id
}

async function begin(url: string, id: string, version: string, colour: string): Promise<void> {
  const artifacts = [
    {
      type: 'docker/image',
      name: 'registry.example.org/shop',
      version,
      reference: `registry.example.org/shop:${version}`,
    },
  ]
  const execution = pipelineExecution({
    ...{ id, status: 'RUNNING', startTime: Date.now(), endTime: undefined },
    trigger: { type: 'docker', user: 'cy', parameters: { colour }, artifacts },
  })
  const event = pipelineEvent(execution, 'orca:pipeline:starting')
  const details = { ...(event['details'] as object), created: String(Date.now()) }
  const eventId = `begin-${id}`
  await postJson(url, '/platform/echo', { ...event, eventId, details }, as('orca'))
}

async function triggerGate(url: string, executionId: string): Promise<number> {
  const body = {
    ...{ approvalCallbackURL: 'http://127.0.0.1:1/y', rejectionCallbackURL: 'http://127.0.0.1:1/n' },
    ...{ executionId, toolConnectorParameters: '' },
  }
  const headers = { ...as('orca'), 'x-spinnaker-user': 'cy' }
  const path = '/visibilityservice/v5/approvalGates/7/trigger'
  return Number(objectOf(await postJson(url, path, body, headers))['id'])
}

async function decide(url: string, facts: object): Promise<string> {
  const flat = { startTime: 1, application: 'shop', name: 'prod-rollout', stage: 'Policy', user: 'cy' }
  const input = { ...flat, executionId: EXECUTION, payloadConstraint: [], ...facts }
  return String(objectOf(await postJson(url, '/v1/data/release/window', input, as('orca')))['decisionId'])
}

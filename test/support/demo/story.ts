import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import { ask } from '../http-client.js'
import { PROJECT_ROOT } from '../project-root.js'
import { runTidegate } from '../run-tidegate.js'
import type { Execution, Pipeline, Stage } from './execution.js'
import type { Parts } from './start-parts.js'

const LOOK_MS = 100
const RELEASE = join(PROJECT_ROOT, 'test/support/demo/pipelines/release.json')
/** Of a registry that `policies/data.json` does not name. */
const STRANGE_IMAGE = 'docker.io/somebody/shop:1.5.0'
const OUR_IMAGE = 'registry.example.org/shop:1.5.0'

interface StorySettings {
  readonly parts: Parts
  /** Whether the demo decides at the gate itself, instead of waiting for a person. */
  readonly approvesItself: boolean
  readonly say: (text: string) => void
  readonly ended: AbortSignal
}

/** Runs the story step by step and prints it. Throws if a step has another result. */
export async function runStory(settings: StorySettings): Promise<void> {
  const pipeline = JSON.parse(readFileSync(RELEASE, 'utf8')) as Pipeline
  await saveTwice(pipeline, settings)
  await stopAnExecution(pipeline, settings)
  const execution = await waitForApproval(pipeline, settings)
  await watchCanary(execution, settings)
  await showTrail(execution, settings)
}

async function saveTwice(pipeline: Pipeline, { parts: { orchestrator }, say }: StorySettings): Promise<void> {
  say('## 1. A save is refused\n')
  say('bo saves a pipeline that deploys a canary to production with nobody asked before:\n')
  const approval = pipeline.stages.find(({ type }) => type === 'approval')
  const stages = pipeline.stages
    .filter((stage) => stage !== approval)
    .map((stage) => (stage.name === 'Deploy canary' ? { ...stage, requisiteStageRefIds: ['3'] } : stage))
  const { refusal } = await orchestrator.save({ ...pipeline, stages }, 'bo')
  expectThat(refusal?.includes('without a manual judgment') === true, 'the save was not refused')
  say(`  refused: ${refusal ?? ''}\n`)
  const mended = await orchestrator.save(pipeline, 'bo')
  expectThat(mended.refusal === undefined, `the mended pipeline was refused: ${mended.refusal ?? ''}`)
  say('With an approval before it the same pipeline is saved.\n')
}

async function stopAnExecution(pipeline: Pipeline, settings: StorySettings): Promise<void> {
  const { parts, say, ended } = settings
  say('## 2. An execution is stopped\n')
  say(`bo runs it. The image that it finds is ${STRANGE_IMAGE}, which was not known when it was saved:\n`)
  const execution = parts.orchestrator.start(pipeline, STRANGE_IMAGE, 'bo')
  const stage = await stageOf(execution, 'Trusted image', ({ status }) => status === 'TERMINAL', ended)
  say(`  stopped: ${stage.message}\n`)
  say(`The policy and what it decided last: ${stage.link}\n`)
}

/** Runs it until it is approved. Starts it again after a rejection. */
async function waitForApproval(pipeline: Pipeline, settings: StorySettings): Promise<Execution> {
  const { parts, say, ended, approvesItself } = settings
  say('## 3. A gate waits for a person\n')
  for (;;) {
    const execution = parts.orchestrator.start(pipeline, OUR_IMAGE, 'bo')
    const isWaiting = ({ link }: Stage): boolean => link !== ''
    const { link } = await stageOf(execution, 'Approve release', isWaiting, ended)
    say(`bo runs it with ${OUR_IMAGE}. It is in staging now, and waits for ana:\n`)
    say(`  open        ${link}`)
    say(`  sign in as  ana, with the token ${parts.token}`)
    say('  then write a comment and press Approve (or Reject)\n')
    if (approvesItself) await approve(parts, link)
    const hasEnded = ({ status }: Stage): boolean => ['SUCCEEDED', 'TERMINAL'].includes(status)
    const { status, message } = await stageOf(execution, 'Approve release', hasEnded, ended)
    say(`  ${message}\n`)
    if (status === 'SUCCEEDED') return execution
    say('So nothing went to production. Once more:\n')
  }
}

async function approve({ tidegateUrl, token }: Parts, link: string): Promise<void> {
  const id = new URL(link).searchParams.get('instanceId') ?? ''
  const answer = await ask(tidegateUrl, {
    method: 'PUT',
    path: `/approvalGateInstances/${id}/review`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'approve', comment: 'looks good in staging' }),
  })
  expectThat(answer.status === 200, `the approval was not taken: ${answer.text}`)
}

async function watchCanary(execution: Execution, settings: StorySettings): Promise<void> {
  const { parts, say, ended } = settings
  say('## 4. A canary gets worse\n')
  const isRegistered = ({ link }: Stage): boolean => link !== ''
  const { link } = await stageOf(execution, 'Verify canary', isRegistered, ended)
  say(
    'The canary serves beside the stable version. It is looked at every 15 seconds; after 16 it begins to fail.\n',
  )
  say(`  report      ${link}`)
  if (parts.isRealPrometheus) say(`  Prometheus  ${graphUrl(parts.prometheusUrl)}`)
  say('')
  const hasEnded = ({ status }: Stage): boolean => ['SUCCEEDED', 'TERMINAL'].includes(status)
  const { status, message, outputs } = await stageOf(execution, 'Verify canary', hasEnded, ended)
  expectThat(status === 'TERMINAL', `the canary passed: ${message}`)
  say(`  ${String(outputs['overallResult'])}, score ${String(outputs['overallScore'])}: ${message}\n`)
  say('The orchestrator stops there: the other servers keep the stable version.\n')
}

function graphUrl(prometheusUrl: string): string {
  return `${prometheusUrl}/graph?g0.expr=shop_failed_requests_per_second&g0.tab=0&g0.range_input=5m`
}

async function showTrail(execution: Execution, { parts, say, ended }: StorySettings): Promise<void> {
  say('## 5. The trail of it all\n')
  await untilTrue(() => execution.status === 'TERMINAL', ended)
  const env = { TIDEGATE_TOKEN: parts.token, TIDEGATE_URL: parts.tidegateUrl }
  for (const args of [
    ['audit', 'timeline', execution.id],
    ['audit', 'verify', '--data-dir', parts.dataDir],
  ]) {
    say(`  $ tidegate ${args.join(' ')}`)
    const { exitCode, stdout, stderr } = await runTidegate(args, { env })
    expectThat(exitCode === 0, `tidegate ${args.join(' ')}: ${stderr}`)
    say(`${stdout.trimEnd().replaceAll(/^/gm, '  ')}\n`)
  }
  const { link = '' } = execution.stages.find(({ definition }) => definition.type === 'approval') ?? {}
  say(`The page of the approval shows it, too: ${link}\n`)
}

async function stageOf(
  { stages }: Execution,
  name: string,
  isThere: (stage: Stage) => boolean,
  ended: AbortSignal,
): Promise<Stage> {
  const stage = stages.find(({ definition }) => definition.name === name)
  if (stage === undefined) throw new Error(`no stage ${name}`)
  await untilTrue(() => {
    const failed = stages.find(({ status }) => status === 'TERMINAL')
    if (failed !== undefined && !isThere(stage))
      throw new Error(`${failed.definition.name}: ${failed.message}`)
    return isThere(stage)
  }, ended)
  return stage
}

async function untilTrue(look: () => boolean, signal: AbortSignal): Promise<void> {
  while (!look()) await setTimeout(LOOK_MS, undefined, { signal })
}

function expectThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise)
}

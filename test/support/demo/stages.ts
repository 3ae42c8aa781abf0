import { setTimeout } from 'node:timers/promises'

import { ask, postJson } from '../http-client.js'
import type { Answered } from '../http-client.js'
import { stageDocument } from './execution.js'
import type { Execution, Stage, RunStage, StageReport } from './execution.js'
import { tolerantWalk } from '../orchestrator-client.js'
import { z } from 'zod'
import { readAsVerification } from '../canary-readers.js'

/** Follows an absolute URL that the service has given out. */
export function follow(url: string): Promise<Answered> {
  const { origin, pathname, search } = new URL(url)
  return ask(origin, { path: `${pathname}${search}` })
}

/** Posts to an absolute URL that the service has given out, for a user as the plugins name them. */
export function postTo(url: string, body: unknown, user: string): Promise<Answered> {
  const { origin, pathname, search } = new URL(url)
  return postJson(origin, `${pathname}${search}`, body, { 'x-spinnaker-user': user })
}

/** The string member of a JSON object. Throws an error with the whole response if it is missing. */
export function memberOf({ status, text }: Answered, name: string): string {
  const value = (JSON.parse(text) as Record<string, unknown>)[name]
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new Error(`no ${name} in the answer ${status}: ${text}`)
  return String(value)
}

/**
 * Where a stage is sent: the look-up that all stages of the plugins begin with
 * (orchestrator-clients.md, 1.7 C).
 */
export async function findGate(
  tidegateUrl: string,
  { pipeline }: Execution,
  { definition: { refId, name } }: Stage,
  type: 'policy' | 'approval' | 'verification',
): Promise<string> {
  const stage = encodeURIComponent(name).replaceAll('%20', '+')
  const path = `/platformservice/v6/applications/${pipeline.application}/pipeline/${pipeline.name}/reference/${refId}/gates/${stage}?type=${type}`
  const answer = await ask(tidegateUrl, { path })
  if (answer.status !== 200) throw new Error(answer.text)
  return memberOf(answer, 'gateUrl')
}

/**
 * Evaluates a runtime policy with the flat body of the plugin: 200 continues, 401 stops the
 * execution (orchestrator-clients.md, 1.7 D).
 */
export function policyStage(tidegateUrl: string): RunStage {
  return async (stage, execution) => {
    const { pipeline, user, startTime, id } = execution
    const body = {
      ...{ startTime, application: pipeline.application, name: pipeline.name },
      ...{ stage: stage.definition.name, executionId: id, gateId: null, trigger: { user } },
      ...{ payloadConstraint: [], stages: execution.stages.map(stageDocument) },
    }
    const gateUrl = await findGate(tidegateUrl, execution, stage, 'policy')
    const { status, text } = await postTo(gateUrl, body, user)
    const link = new URL(gateUrl).pathname.replace('/v1/data', '/ui/policies')
    const page = { link: `${tidegateUrl}${link}` }
    if (status === 200) return { status: 'SUCCEEDED', message: 'the policy allows it', ...page }
    const message = status === 401 ? tolerantWalk(text, 'deny').join(', ') : text
    return { status: 'TERMINAL', message, ...page }
  }
}

const POLL_MS = 500
const ENDS: Readonly<Record<string, StageReport['status']>> = {
  approved: 'SUCCEEDED',
  rejected: 'TERMINAL',
  canceled: 'TERMINAL',
}

/**
 * Triggers an approval gate, which may call back below a URL, and polls until it is decided
 * (orchestrator-clients.md, 2).
 */
export function approvalStage(tidegateUrl: string, callbackUrl: string, ended: AbortSignal): RunStage {
  return async (stage, execution, report) => {
    const gateUrl = await findGate(tidegateUrl, execution, stage, 'approval')
    const body = {
      approvalCallbackURL: `${callbackUrl}/callbackurl`,
      rejectionCallbackURL: `${callbackUrl}/rejectionbackurl`,
      ...{ executionId: execution.id, toolConnectorParameters: [], customConnectorData: [] },
      payloadConstraint: [{ region: 'eu' }],
    }
    const triggered = await postTo(gateUrl, body, execution.user)
    if (triggered.status !== 202) return { status: 'TERMINAL', message: triggered.text }
    const link = `${memberOf(triggered, 'navigationalURL')}/fromPlugin?instanceId=${memberOf(triggered, 'id')}`
    report({ status: 'RUNNING', message: 'waits for a person', link })
    for (;;) {
      await setTimeout(POLL_MS, undefined, { signal: ended })
      const answer = await follow(String(triggered.headers.location))
      const said = memberOf(answer, 'status')
      const status = ENDS[said]
      if (status !== undefined)
        return { status, message: `${said}: ${memberOf(answer, 'comment') || 'no comment'}`, link }
    }
  }
}

const ANALYSIS_POLL_MS = 1000
const CanaryStatus = z.object({
  canaryResult: z.object({
    canaryReportURL: z.string(),
    overallScore: z.number(),
    overallResult: z.string().optional(),
    message: z.string().optional(),
  }),
})

/** Registers a canary and polls its status to the verdict (orchestrator-clients.md, 3). */
export function verificationStage(tidegateUrl: string, ended: AbortSignal): RunStage {
  return async (stage, execution, report) => {
    const gateUrl = await findGate(tidegateUrl, execution, stage, 'verification')
    const registered = await postTo(gateUrl, registration(stage, execution), execution.user)
    if (registered.status !== 202) return { status: 'TERMINAL', message: registered.text }
    for (;;) {
      await setTimeout(ANALYSIS_POLL_MS, undefined, { signal: ended })
      const body: unknown = JSON.parse((await follow(String(registered.headers.location))).text)
      const status = readAsVerification(body)
      const { canaryReportURL: link, ...result } = CanaryStatus.parse(body).canaryResult
      const message = status === 'RUNNING' ? 'the canary is looked at' : (result.message ?? '')
      const outputs = { overallScore: result.overallScore, overallResult: result.overallResult }
      if (status !== 'RUNNING') return { status, message, link, outputs }
      report({ status, message, link, outputs })
    }
  }
}

function registration({ definition }: Stage, { id, pipeline, user }: Execution): object {
  const { lifetime, minicanaryresult, canaryresultscore } = definition.parameters ?? {}
  const side = { [pipeline.name]: { pipelineName: pipeline.name, serviceGate: definition.name } }
  const startMs = Date.now()
  return {
    ...{ application: pipeline.application, isJsonResponse: true, executionId: id, payloadConstraint: [] },
    canaryConfig: {
      lifetimeMinutes: lifetime,
      canaryHealthCheckHandler: { minimumCanaryResultScore: minicanaryresult },
      canarySuccessCriteria: { canaryResultScore: canaryresultscore },
      name: user,
    },
    canaryDeployments: [
      {
        ...{ baseline: { log: side, metric: side }, canary: { log: side, metric: side } },
        ...{ baselineStartTimeMs: startMs, canaryStartTimeMs: startMs },
      },
    ],
  }
}

const WORK_MS = 800

/** A stage that finds which image is to be deployed: the one that the run was started for. */
export function findImageStage(image: (executionId: string) => string, ended: AbortSignal): RunStage {
  return async (_stage, { id }) => {
    await setTimeout(WORK_MS, undefined, { signal: ended })
    const reference = image(id)
    const artifacts = [{ type: 'docker/image', name: reference, reference }]
    return { status: 'SUCCEEDED', message: reference, outputs: { artifacts } }
  }
}

/** A stage that deploys: there is no cluster, but the shop serves the canary from then on. */
export function deployStage(deployed: (stageName: string) => void, ended: AbortSignal): RunStage {
  return async ({ definition }) => {
    await setTimeout(WORK_MS, undefined, { signal: ended })
    deployed(definition.name)
    return { status: 'SUCCEEDED', message: `deployed to ${definition.account ?? 'an account'}` }
  }
}

import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'

import { readAsVerification } from '../../canary-readers.js'
import type { Execution, RunStage, Stage } from '../execution.js'
import { findGate } from './find-gate.js'
import { follow, postTo } from './service-calls.js'

const POLL_MS = 1000
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
      await setTimeout(POLL_MS, undefined, { signal: ended })
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

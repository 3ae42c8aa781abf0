import { tolerantWalk } from '../../orchestrator-client.js'
import { stageDocument } from '../execution.js'
import type { RunStage } from '../execution.js'
import { findGate } from './find-gate.js'
import { postTo } from './service-calls.js'

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

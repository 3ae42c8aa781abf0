import { ask } from '../../http-client.js'
import type { Execution, Stage } from '../execution.js'
import { memberOf } from './service-calls.js'

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

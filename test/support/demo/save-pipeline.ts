import { postJson } from '../http-client.js'
import { strictWalk } from '../orchestrator-client.js'
import type { Pipeline } from './execution.js'

/**
 * The reason for refusing a save, in the words that the person reads. Undefined if it is stored
 * (orchestrator-clients.md, 1.1).
 */
export async function refusalOf(tidegateUrl: string, pipeline: Pipeline): Promise<string | undefined> {
  const { status, text } = await postJson(tidegateUrl, '/v1/staticPolicy/eval', { input: { new: pipeline } })
  if (status === 200) return undefined
  return status === 401 ? strictWalk(text, 'deny').join(', ') : text
}

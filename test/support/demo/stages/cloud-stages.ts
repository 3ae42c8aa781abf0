import { setTimeout } from 'node:timers/promises'

import type { RunStage } from '../execution.js'

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

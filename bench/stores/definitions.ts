import { seededRandom } from '../../test/support/random-bytes.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'

const FEWEST_STAGES = 5
const STAGE_COUNTS = 7
const FIRST_MS = 1_750_000_000_000
const SEED = 20_251

/** The list of applications of the storage service as JSON. Always the same. */
export function applicationList(applications: number): Buffer {
  return jsonList(applications, (index) => ({
    name: applicationName(index),
    email: `team-${index % 300}@example.org`,
    description: `Application ${index}`,
    cloudProviders: 'kubernetes',
    createTs: String(FIRST_MS),
    updateTs: String(FIRST_MS + index),
    lastModifiedBy: `person-${index % 200}`,
  }))
}

/** The list of pipelines, 2.4 KB each on average. Always the same. */
export function pipelineList(pipelines: number, applications: number): Buffer {
  const random = seededRandom(SEED)
  return jsonList(pipelines, (index) => {
    const stages = FEWEST_STAGES + Math.floor(random() * STAGE_COUNTS)
    return {
      ...generatePipeline(stages),
      id: `${hex(random)}-${hex(random)}`,
      name: pipelineName(index),
      application: applicationName(Math.floor(random() * applications)),
      index,
      lastModifiedBy: `person-${index % 200}`,
      updateTs: String(FIRST_MS + index),
    }
  })
}

export function applicationName(index: number): string {
  return `app-${index}`
}

export function pipelineName(index: number): string {
  return `rollout-${index}`
}

/** Generated in pieces, because it exceeds the maximum string length. */
function jsonList(count: number, make: (index: number) => object): Buffer {
  const pieces = Array.from({ length: count }, (_, index) =>
    Buffer.from(`${index === 0 ? '[' : ','}${JSON.stringify(make(index))}`),
  )
  return Buffer.concat([...pieces, Buffer.from(']')])
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

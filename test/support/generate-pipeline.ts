/** A stage of a pipeline definition. Other members depend on the type. */
interface PipelineStage {
  readonly refId: string
  readonly requisiteStageRefIds: readonly string[]
  readonly type: string
  readonly name: string
  readonly [member: string]: unknown
}

/** A pipeline definition in the orchestrator's document shape (contract, section 2.4). */
export interface Pipeline {
  readonly application: string
  readonly name: string
  readonly description: string
  readonly roles: readonly string[]
  readonly parameterConfig: readonly unknown[]
  readonly notifications: readonly unknown[]
  readonly triggers: readonly unknown[]
  readonly stages: readonly PipelineStage[]
  readonly expectedArtifacts: readonly unknown[]
  readonly keepWaitingPipelines: boolean
  readonly limitConcurrent: boolean
}

const REGIONS = ['eu-west', 'us-east', 'ap-south']

/**
 * A pipeline of this many stages that the example policies allow: waves of staging deploy, soak,
 * judgment and two production deploys side by side, one wave after the other. The same number
 * always gives the same pipeline; as the input of a decision, 20 stages are about 5.6 KB and 800
 * stages about 215 KB.
 */
export function generatePipeline(stages: number): Pipeline {
  return {
    application: 'shop',
    name: `rollout-${stages}`,
    description: 'Rolls the shop out, one wave after the other',
    roles: ['release-managers'],
    parameterConfig: [{ name: 'version', label: 'Version', default: 'latest', required: true }],
    notifications: [],
    triggers: [],
    stages: Array.from({ length: stages }, (_, index) => makeStage(index)),
    expectedArtifacts: [],
    keepWaitingPipelines: false,
    limitConcurrent: true,
  }
}

const WAVE = [stagingDeploy, soak, judgment, productionDeploy, productionDeploy] as const

function makeStage(index: number): PipelineStage {
  const position = index % WAVE.length
  const wave = Math.floor(index / WAVE.length) + 1
  const region = REGIONS[wave % REGIONS.length] ?? 'eu-west'
  const make = WAVE[position] ?? soak
  return make({ index, region, wave, side: position === WAVE.length - 1 ? 'b' : 'a' })
}

interface StagePlace {
  readonly index: number
  readonly region: string
  readonly wave: number
  readonly side: string
}

function stagingDeploy({ index, region, wave }: StagePlace): PipelineStage {
  const before = index === 0 ? [] : [index - 2, index - 1]
  return {
    ...place(index, before),
    ...deploy(`staging-${region}`, wave),
    name: `Deploy wave ${wave} to staging`,
  }
}

function soak({ index, wave }: StagePlace): PipelineStage {
  return {
    ...place(index, [index - 1]),
    type: 'wait',
    name: `Soak wave ${wave}`,
    waitTime: '600',
    comments: `Let the metrics of wave ${wave} settle before anyone looks at them`,
  }
}

function judgment({ index, wave }: StagePlace): PipelineStage {
  return {
    ...place(index, [index - 1]),
    type: 'manualJudgment',
    name: `Approve wave ${wave}`,
    failPipeline: true,
    instructions: `Compare errors and latency of wave ${wave} with those of the wave before`,
    judgmentInputs: [],
    notifications: [],
  }
}

function productionDeploy({ index, region, wave, side }: StagePlace): PipelineStage {
  const approved = side === 'a' ? index - 1 : index - 2
  return {
    ...place(index, [approved]),
    ...deploy(`prod-${region}-${side}`, wave),
    name: `Deploy wave ${wave}${side} to production`,
  }
}

function place(
  index: number,
  before: readonly number[],
): Pick<PipelineStage, 'refId' | 'requisiteStageRefIds'> {
  return { refId: `${index + 1}`, requisiteStageRefIds: before.map((earlier) => `${earlier + 1}`) }
}

function deploy(account: string, wave: number): { type: string; [member: string]: unknown } {
  const image = `registry.example.org/shop:1.${wave}.0`
  return {
    type: 'deployManifest',
    cloudProvider: 'kubernetes',
    source: 'text',
    account,
    manifests: [{ kind: 'Pod', metadata: { name: 'shop' }, spec: { containers: [{ image }] } }],
  }
}

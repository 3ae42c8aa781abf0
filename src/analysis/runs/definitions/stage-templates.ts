import type { Registration, SideScopes } from './registration.js'

/** A verification stage of the orchestrator's, as its registration names it. */
export interface RegisteredStage {
  readonly application: string
  readonly pipeline: string
  readonly stage: string
}

/** The templates that were chosen in the form of a stage. */
export type FindStageTemplates = (
  stage: RegisteredStage,
) => Promise<{ readonly metric?: string | undefined; readonly log?: string | undefined } | undefined>

/**
 * A registration with the templates of the stage that sends it: the stage names itself (`pipelineName` and `serviceGate`, clients, section 3) and not what
 * was chosen in its form. A template that the registration names itself stays.
 */
export async function withStageTemplates(
  registration: Registration,
  find: FindStageTemplates,
): Promise<Registration> {
  const targets = await Promise.all(
    registration.targets.map(async (target) => {
      const { metric, log } = target
      const pipeline = metric?.canary['pipelineName'] ?? log?.canary['pipelineName']
      const stage = metric?.canary['serviceGate'] ?? log?.canary['serviceGate']
      if (pipeline === undefined || stage === undefined) return target
      const chosen = await find({ application: registration.application, pipeline, stage })
      return { ...target, metric: withTemplate(metric, chosen?.metric), log: withTemplate(log, chosen?.log) }
    }),
  )
  return { ...registration, targets }
}

function withTemplate(scopes: SideScopes | undefined, name: string | undefined): SideScopes | undefined {
  return scopes?.template === undefined && name !== undefined && scopes !== undefined
    ? { ...scopes, template: name }
    : scopes
}

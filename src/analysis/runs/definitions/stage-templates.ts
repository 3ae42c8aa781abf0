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
 * Adds the templates of the sending stage to a registration. The stage sends its name
 * (`pipelineName` and `serviceGate`, clients, section 3) but not the choices in its form. A
 * template named in the registration takes precedence.
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

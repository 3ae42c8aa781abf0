import type { Config } from '../config/config.js'
import { Enforcement } from '../enforcement/enforcement.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import type { Logger } from '../lib/logger.js'
import type { Policies } from '../rego/index.js'

/** How the verdicts of policies count. */
export interface OpenEnforcement {
  readonly enforcement: Enforcement
  readonly health: HealthPlugin
}

interface EnforcementParts {
  readonly policies: Pick<Policies, 'current'>
  readonly logger: Logger
}

/** Opens the levels of packages. Logs entries that do nothing. */
export function openEnforcement(config: Config, { policies, logger }: EnforcementParts): OpenEnforcement {
  const enforcement = new Enforcement({ levels: config.policies.levels })
  const problems = (): readonly string[] =>
    enforcement.levels.problems(policies.current, Date.now()).map(({ message }) => message)
  for (const problem of problems()) logger.warn(problem)
  return {
    enforcement,
    health: {
      name: 'policy_levels',
      isUp: () => true,
      warning: () => {
        const found = problems()
        return found.length === 0 ? undefined : found.join('; ')
      },
    },
  }
}

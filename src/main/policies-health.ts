import type { PolicySource } from '../distribution/policy-source.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import type { Policies } from '../rego/index.js'

/** Most loads take less time. */
const LONG_MS = 5000
const MS_PER_SECOND = 1000

/**
 * Shows a slow or failed load of policies. The status is always up, because the last good policies
 * stay in service.
 */
export function policiesHealth(
  policies: Pick<Policies, 'failure' | 'loadingMs' | 'pinned'>,
  stageProblem: () => string | undefined = () => undefined,
): HealthPlugin {
  return {
    name: 'policies',
    isUp: () => true,
    warning: () => {
      const { failure, loadingMs, pinned } = policies
      if (loadingMs > LONG_MS) {
        const seconds = Math.round(loadingMs / MS_PER_SECOND)
        return `changed policies have been loading for ${seconds} s; the last good ones are in service`
      }
      const problem = stageProblem()
      if (problem !== undefined) return `the staged policies are not compared: ${problem}`
      if (pinned !== undefined)
        return `the policies are pinned to revision ${pinned}; changes wait for tidegate policies unpin`
      return (
        failure &&
        'changed policies could not be loaded; the last good ones are in service; /health?bundles shows why'
      )
    },
  }
}

/**
 * Shows bundles that failed or are stale, under the names that OPA gives these components: `bundle`
 * for sources and `discovery`. It is down while a source is stale that must not be.
 */
export function sourcesHealth(
  name: 'bundle' | 'discovery',
  sources: () => readonly PolicySource[],
): HealthPlugin {
  const stale = (): string[] =>
    sources()
      .filter(({ isStale }) => isStale)
      .map((source) => source.name)
  const staleText = (): string => `stale: ${stale().join(', ')}; GET /policies/sources shows why`
  return {
    name,
    isUp: () => !sources().some(({ isStale, settings }) => isStale && settings.staleIsNotReady),
    problem: staleText,
    warning: () => {
      if (stale().length > 0) return staleText()
      const failed = sources().filter(({ state }) => state.fetchError ?? state.activationError)
      if (failed.length === 0) return undefined
      const names = failed.map((source) => source.name).join(', ')
      return `no current bundle from ${names}; the last good ones are in service; GET /policies/sources shows why`
    },
  }
}

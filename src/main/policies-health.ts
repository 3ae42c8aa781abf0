import type { HealthPlugin } from '../http/routes/about/health.js'
import type { Policies } from '../rego/index.js'

/** Most loads take less. */
const LONG_MS = 5000
const MS_PER_SECOND = 1000

/** Shows a load of policies that takes long or has failed. Policies always serve: the last good ones. */
export function policiesHealth(policies: Pick<Policies, 'failure' | 'loadingMs'>): HealthPlugin {
  return {
    name: 'policies',
    isUp: () => true,
    warning: () => {
      const { failure, loadingMs } = policies
      if (loadingMs > LONG_MS) {
        const seconds = Math.round(loadingMs / MS_PER_SECOND)
        return `changed policies have been loading for ${seconds} s; the last good ones are in service`
      }
      return (
        failure &&
        'changed policies could not be loaded, the last good ones are in service; /health?bundles shows why'
      )
    },
  }
}

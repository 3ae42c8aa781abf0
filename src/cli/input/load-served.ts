import type { ErrorDetail } from '../../errors/app-error.js'
import {
  collectSources,
  isTestFile,
  loadSnapshot,
  type LoadOptions,
  type PolicyLocations,
} from '../../rego/index.js'

/**
 * Loads what would serve, and gives what is wrong with it though it loads: test rules make a module another one, larger, with other built-ins. Raises as
 * `loadSnapshot`. Where there is nothing but tests, nothing would serve.
 */
export async function loadServed(
  locations: PolicyLocations,
  load: LoadOptions,
): Promise<{ readonly warnings: readonly ErrorDetail[]; readonly packages: readonly string[] }> {
  const { directories, includesAllData } = locations
  const { rego, data } = await collectSources(directories, { includeTests: true, includesAllData })
  const isAllTests = data.length === 0 && rego.every(({ file }) => isTestFile(file))
  return isAllTests ? { warnings: [], packages: [] } : await loadSnapshot(locations, load)
}

import type { ErrorDetail } from '../../errors/app-error.js'
import {
  collectSources,
  isTestFile,
  loadSnapshot,
  type LoadOptions,
  type PolicyLocations,
} from '../../rego/index.js'

/**
 * Loads the policies without tests, as the service does, and returns their warnings. Test rules
 * would change the module and its built-ins. Raises the errors of `loadSnapshot`; if there are only
 * tests, nothing is loaded.
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

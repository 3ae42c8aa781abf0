import { readRegoText, collectSources, isTestFile } from '../compile/collect-sources.js'
import type { RegoFile } from '../modules/rego-module.js'
import { toAppError } from '../../errors/app-error.js'
import { withPublicNames } from '../snapshot/public-names.js'
import { locationNames } from './location-names.js'
import type { PolicyLocations, ReadOptions } from './part-source.js'
import { readBundles } from './read-parts.js'

/**
 * Reads the test files of policy locations, with the names that callers see. Raises `invalid` for
 * files that cannot be read and for bundles that do not verify.
 */
export async function readTests(
  locations: PolicyLocations,
  options: Pick<ReadOptions, 'verification'>,
): Promise<readonly RegoFile[]> {
  const names = locationNames(locations)
  try {
    const { rego } = await collectSources(locations.directories, { includeTests: true, mayBeEmpty: true })
    const bundles = await readBundles(locations, options)
    const bundled = bundles.flatMap(({ name, files, bundle }) =>
      [...bundle.rego.keys()].map(
        (file) => readRegoText(`${name}/${file}`, files.get(file) ?? Buffer.alloc(0)).file,
      ),
    )
    return [...rego, ...bundled]
      .filter(({ file }) => isTestFile(file))
      .map((file) => ({ ...file, file: names.file(file.file) }))
  } catch (raw) {
    throw withPublicNames(toAppError(raw), names)
  }
}

import { ownedRoots } from '../archive/roots.js'
import type { LoadedData } from '../data/load-data.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import { dataOf } from '../wasm/data/data-image.js'
import type { StoredPolicies } from '../writing/stored-policies.js'
import { locationNames } from './location-names.js'
import type { PolicyLocations } from './part-source.js'

/** Returns the policies and data of a load as clients read and write them. */
export function describeStored(
  locations: PolicyLocations,
  parts: readonly PolicyPart[],
  { image, unedited = image.root, fileIds }: LoadedData & { readonly fileIds: readonly string[] },
): StoredPolicies {
  const names = locationNames(locations)
  const { bundles, downloads = [] } = locations
  const bundleNames = [...bundles, ...downloads.map(({ source }) => source)]
  const owners = parts.flatMap(
    ({ name, packages, data, roots, owners: several }) =>
      several ?? (bundleNames.includes(name) ? [{ name, roots: roots ?? ownedRoots(packages, data) }] : []),
  )
  return {
    modules: parts.flatMap(({ modules }) =>
      modules.map(({ file, text, source = text, version, packagePath }) => ({
        id: names.file(file),
        text: source,
        version,
        packagePath,
      })),
    ),
    bundles: owners
      .filter(({ name }) => bundleNames.includes(name))
      .map(({ name, roots }) => ({ name: names.root(name), roots })),
    fileIds: new Set(fileIds),
    fileData: dataOf({ ...image, root: unedited }),
  }
}

import { publicNames } from '../snapshot/public-names.js'
import type { PublicNames } from '../snapshot/public-names.js'
import type { PolicyLocations } from './part-source.js'

/**
 * Returns the public names of policy locations. Sources keep their names, and so do the files of a
 * stored revision, which are public already.
 */
export function locationNames(locations: PolicyLocations): PublicNames {
  const { directories, bundles, downloads = [], revision } = locations
  const sources = downloads.map(({ source }) => source)
  const names = publicNames(directories, bundles)
  if (revision !== undefined) return { ...names, file: (file) => file }
  if (sources.length === 0) return names
  return {
    root: (root) => (sources.includes(root) ? root : names.root(root)),
    file: (file) =>
      sources.some((source) => file === source || file.startsWith(`${source}/`)) ? file : names.file(file),
    text: (text) =>
      downloads.reduce((left, { source, file }) => left.replaceAll(file, source), names.text(text)),
  }
}

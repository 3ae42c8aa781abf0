/**
 * The components of the program, as a CycloneDX bill of materials
 * (https://cyclonedx.org/specification), and the licence texts of all bundled packages, as their
 * licences require.
 */
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const SPEC_VERSION = '1.6'
const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:[.-].*)?$/i

/**
 * Returns the packages that the program contains or needs, by folder. Throws if one has no known
 * licence.
 * @param {string} root the project's folder
 * @param {readonly string[]} bundled the folders of packages that have a part in the bundles, as in `node_modules/hono`
 */
export function findComponents(root, bundled) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const locked = Object.entries(packages).filter(([folder]) => folder !== '')
  return locked
    .filter(([folder, { dev }]) => bundled.includes(folder) || dev !== true)
    .map(([folder, entry]) => {
      const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const licence = entry.license ?? licenceOf(root, folder)
      if (licence === undefined) throw new Error(`${folder} names no licence, so it cannot be distributed`)
      return {
        folder,
        name,
        licence,
        version: entry.version,
        integrity: entry.integrity,
        isBundled: bundled.includes(folder),
        isOptional: entry.optional === true,
      }
    })
    .sort((one, other) => (one.folder < other.folder ? -1 : 1))
}

/** Returns the bill of materials of a version. The same components give the same bytes. */
export function billOfMaterials({ name, version, license }, components) {
  const ours = {
    type: 'application',
    'bom-ref': purl(name, version),
    name,
    version,
    purl: purl(name, version),
    licenses: [{ license: { id: license } }],
  }
  const listed = components.map((component) => ({
    type: 'library',
    'bom-ref': `${purl(component.name, component.version)}#${component.folder}`,
    name: component.name,
    version: component.version,
    purl: purl(component.name, component.version),
    scope: component.isOptional ? 'optional' : 'required',
    licenses: [
      / (?:OR|AND) /.test(component.licence)
        ? { expression: component.licence }
        : { license: { id: component.licence } },
    ],
    // Bundled code has no hash, because bundling changes it.
    ...(!component.isBundled && component.integrity && { hashes: hashesOf(component.integrity) }),
    properties: [{ name: 'tidegate:bundled', value: String(component.isBundled) }],
  }))
  return {
    bomFormat: 'CycloneDX',
    specVersion: SPEC_VERSION,
    serialNumber: serialNumber(listed),
    version: 1,
    metadata: { component: ours },
    components: listed,
    dependencies: [{ ref: ours['bom-ref'], dependsOn: listed.map((component) => component['bom-ref']) }],
  }
}

/** Returns the licence texts of the bundled packages, equal ones once. */
export function licenceTexts(root, components) {
  const holders = new Map()
  for (const { folder, name, version, licence } of components.filter(({ isBundled }) => isBundled)) {
    const text = licenceText(root, folder) ?? `${licence}: the package holds no text of its own.`
    holders.set(text, [...(holders.get(text) ?? []), `${name} ${version} (${licence})`])
  }
  const parts = [...holders].map(([text, names]) => `${names.join('\n')}\n\n${text.trim()}\n`)
  return [`Parts of these packages are in the files of dist/.\n`, ...parts].join(`\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(root, folder) {
  const file = join(root, folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).license : undefined
}

function licenceText(root, folder) {
  const file = readdirSync(join(root, folder)).find((name) => LICENCE_FILE.test(name))
  return file === undefined ? undefined : readFileSync(join(root, folder, file), 'utf8')
}

/** https://github.com/package-url/purl-spec: the scope's `@` is escaped. */
function purl(name, version) {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}

/** Subresource integrity has base64, CycloneDX hexadecimal. */
function hashesOf(integrity) {
  const [algorithm, digest] = integrity.split(' ')[0].split(/-(.*)/s)
  return [{ alg: algorithm.replace(/^sha/, 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }]
}

/** A UUID of version 8 derived from the content, because a random one would change each build. */
function serialNumber(components) {
  const hex = createHash('sha256').update(JSON.stringify(components)).digest('hex')
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

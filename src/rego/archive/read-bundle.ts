import { AppError } from '../../errors/app-error.js'
import { MODULE_FILE, readManifest } from './manifest.js'
import type { BundleManifest } from './manifest.js'
import type { UnpackedFiles } from './unpack-bundle.js'

/** An OPA bundle as read, with file names relative to its root. */
export interface BundleFiles extends BundleManifest {
  readonly wasm: Uint8Array | undefined
  /** `data.json` and `data.yaml` files by name. */
  readonly data: ReadonlyMap<string, Uint8Array>
  readonly rego: ReadonlyMap<string, string>
  /** True if the bundle has a plan, as `opa build --target plan` makes it. */
  readonly hasPlan: boolean
}

/** The file of a delta bundle, which has neither policies nor data. */
const DELTA_FILE = 'patch.json'

/**
 * Sorts a bundle's files by kind. Raises `invalid`, naming the bundle, for an invalid manifest or a
 * delta bundle.
 */
export function readBundle(bundle: string, files: UnpackedFiles): BundleFiles {
  const endingWith = (suffixes: readonly string[]): (readonly [string, Buffer])[] =>
    [...files].filter(([file]) => suffixes.some((suffix) => `/${file}`.endsWith(suffix)))
  if (files.has(DELTA_FILE))
    throw new AppError(
      'invalid',
      `bundle ${bundle} is a delta bundle (it has ${DELTA_FILE}), which changes another one and serves nothing itself: build a whole bundle`,
    )
  return {
    ...readManifest(bundle, files),
    wasm: files.get(MODULE_FILE),
    data: new Map(endingWith(['/data.json', '/data.yaml', '/data.yml'])),
    rego: new Map(endingWith(['.rego']).map(([file, content]) => [file, content.toString('utf8')])),
    hasPlan: files.has('plan.json'),
  }
}

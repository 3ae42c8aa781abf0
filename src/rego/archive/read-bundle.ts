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
  /** Whether it holds OPA's plan of evaluations, which `opa build --target plan` makes. */
  readonly hasPlan: boolean
}

/** What a delta bundle has in place of policies and data. */
const DELTA_FILE = 'patch.json'

/** Tells a bundle's files apart. Raises `invalid`, naming the bundle, when its manifest is none or it is a delta bundle. */
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

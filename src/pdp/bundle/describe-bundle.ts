import { createHash } from 'node:crypto'
import { dirname } from 'node:path'

import { AppError } from '../../errors.js'
import { mergeData } from '../compile/merge-data.js'
import { parseDataFile } from '../compile/parse-data.js'
import type { EntrypointKind } from '../compile/rego-module.js'
import { withoutRoot } from '../compile/stage-bundle.js'
import { pathKey } from '../rego/path-key.js'
import type { PolicyPart } from '../policy-part.js'
import type { BundleFiles } from './read-bundle.js'

const PACKAGE = /^\s*package\s+(?<path>[^\s#;]+)/m

/** A bundle as a part of a snapshot. Raises `invalid` when it holds Rego but no compiled module. */
export function describeBundle(file: string, bytes: Uint8Array, bundle: BundleFiles): PolicyPart {
  if (bundle.wasm === undefined && bundle.rego.size > 0) {
    throw new AppError(
      'invalid',
      `bundle ${file} has no policy.wasm: build it with \`tidegate build\` or \`opa build --target wasm\`, or give its directory with --policies`,
    )
  }
  const rego = [...bundle.rego].map(([name, text]) => ({ file: `${file}/${name}`, text }))
  return {
    name: file,
    revision: bundle.revision || `sha256:${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`,
    wasm: bundle.wasm,
    data: mergeData(
      [...bundle.data].map(([name, text]) => ({
        file: `${file}/${name}`,
        at: dirname(name) === '.' ? [] : dirname(name).split('/'),
        value: parseDataFile(`${file}/${name}`, text),
      })),
    ),
    packages: bundle.index?.packages ?? rego.flatMap(({ text }) => packagePath(text)),
    rego,
    modules: undefined,
    sourceFile: (compiledName) => sourceIn(file, bundle, withoutRoot(compiledName)),
    keyOf: (entrypoint) => keyIn(bundle, entrypoint),
    kindOf: (key) => kindIn(bundle, key),
  }
}

/** Our own bundles say which file a name stands for; others hold the files themselves under it. */
function sourceIn(file: string, { index, rego }: BundleFiles, name: string): string | undefined {
  const source = index?.files[name] ?? (rego.has(name) ? name : undefined)
  return source === undefined ? undefined : `${file}/${source}`
}

/** A bundle that says nothing of its entrypoints may hold packages and rules: either way the path leads into its value. */
function kindIn({ index }: BundleFiles, key: string): EntrypointKind {
  return index === undefined || index.rules.includes(key) ? 'rule' : 'document'
}

/** OPA names an entrypoint by its path joined with `/`, and has no name for a slash inside a segment. */
function keyIn({ index }: BundleFiles, entrypoint: string): string {
  return index?.paths[entrypoint] ?? (entrypoint === '' ? '' : pathKey(entrypoint.split('/')))
}

/** Rego that was compiled away leaves its package line in the bundle. */
function packagePath(text: string): string[][] {
  const path = PACKAGE.exec(text)?.groups?.['path']
  if (path === undefined) return []
  return [path.split(/\.|\["|"\]/).filter((segment) => segment !== '')]
}

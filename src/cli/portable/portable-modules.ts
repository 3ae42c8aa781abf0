import {
  MAX_PORTABLE_ENTRYPOINTS,
  printJson,
  readData,
  readParts,
  type LoadOptions,
  type PolicyLocations,
} from '../../rego/index.js'

/** A module as built by `tidegate build`, or from a bundle. */
export interface PortableModule {
  readonly module: WebAssembly.Module
  /** Base documents as JSON. */
  readonly data: string
  /** Entrypoint names by path key. */
  readonly entrypoints: ReadonlyMap<string, string>
}

/**
 * Loads the modules of directories and bundles for another host. Raises the errors of
 * `loadSnapshot`.
 */
export async function readPortableModules(
  locations: PolicyLocations,
  load: LoadOptions,
): Promise<readonly PortableModule[]> {
  const { loadPolicy } = await import('@open-policy-agent/opa-wasm')
  const sources = await readParts(locations, { ...load, maxEntrypoints: MAX_PORTABLE_ENTRYPOINTS })
  const modules = await Promise.all(
    sources.map(async ({ dataFiles, toPart }) => {
      const { compiled, data } = await toPart(dataFiles.map(readData))
      if (compiled === undefined) return []
      const { wasm, keyOf } = compiled
      const module = await WebAssembly.compile(Uint8Array.from(wasm))
      const names = Object.keys((await loadPolicy(module)).entrypoints as Record<string, number>)
      const entrypoints = new Map(names.map((name) => [keyOf(name), name]))
      return [{ module, data: printJson(data), entrypoints }]
    }),
  )
  return modules.flat()
}

import type { RegoFile } from '../compile/collect-sources.js'
import { readModules } from '../compile/read-modules.js'
import type { RegoModule } from '../compile/rego-module.js'
import type { OpaProgram } from '../opa/find-opa.js'

interface Parsed {
  readonly text: string
  readonly module: RegoModule
}

/** Modules as they were last parsed: only files whose text has changed are parsed again. */
export class ParsedModules {
  #opa: OpaProgram | undefined
  #byFile: ReadonlyMap<string, Parsed> = new Map()

  /** The modules of all files, in their order; those that are the same as before are the very same. Raises as `readModules`. */
  async parse(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoModule[]> {
    const known = this.#opa === opa ? this.#byFile : new Map<string, Parsed>()
    const isKnown = ({ file, text }: RegoFile): boolean => known.get(file)?.text === text
    const parsed = await readModules(
      opa,
      files.filter((file) => !isKnown(file)),
    )
    const fresh = new Map(parsed.map((module) => [module.file, module]))
    const byFile = new Map<string, Parsed>()
    for (const { file, text } of files) {
      const module = fresh.get(file) ?? known.get(file)?.module
      if (module !== undefined) byFile.set(file, { text, module })
    }
    this.#opa = opa
    this.#byFile = byFile
    return [...byFile.values()].map(({ module }) => module)
  }
}

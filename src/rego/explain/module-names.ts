import type { RegoModule } from '../modules/rego-module.js'
import { calledName, isCall, isDeclaration, segmentText } from './print-tree.js'
import type { Body, SyntaxTree, Term } from './syntax-tree.js'
import { variablesOf } from './variables.js'

const DOCUMENTS: readonly string[] = ['input', 'data']
const NO_NAMES: ReadonlySet<string> = new Set()

/** Imported paths by name. */
type Imports = ReadonlyMap<string, readonly string[]>

/** The meaning of names in a body. */
export class ModuleNames {
  /** Names of documents, imports and rules of the package, unless the body declares them. */
  readonly globals: ReadonlySet<string>
  readonly #packagePath: readonly string[]
  readonly #rules: ReadonlySet<string>
  readonly #imports: Imports

  private constructor(
    globals: ReadonlySet<string>,
    packagePath: readonly string[],
    rules: ReadonlySet<string>,
    imports: Imports,
  ) {
    this.globals = globals
    this.#packagePath = packagePath
    this.#rules = rules
    this.#imports = imports
  }

  /** Returns the names of a module in which no body has declared variables. */
  static ofModule(
    { packagePath }: Pick<RegoModule, 'packagePath'>,
    tree: Pick<SyntaxTree, 'imports'>,
    packageRules: ReadonlySet<string>,
  ): ModuleNames {
    const imports = importsOf(tree)
    const globals = new Set([...DOCUMENTS, ...packageRules, ...imports.keys()])
    return new ModuleNames(globals, packagePath, packageRules, imports)
  }

  /** Returns the names in a body with parameters or variables of its own. */
  within(parameters: readonly Term[], body: Body): ModuleNames {
    const globals = new Set(this.globals)
    for (const name of declaredIn(parameters, body)) globals.delete(name)
    return new ModuleNames(globals, this.#packagePath, this.#rules, this.#imports)
  }

  /** The path below `data` of a reference to a rule; undefined for other references. */
  rulePath([head, ...steps]: readonly Term[]): readonly string[] | undefined {
    if (head?.type !== 'var' || !this.globals.has(head.value)) return undefined
    const end = steps.findIndex(({ type }) => type !== 'string')
    const rest = steps.slice(0, end === -1 ? undefined : end).map(segmentText)
    if (this.#rules.has(head.value)) return [...this.#packagePath, head.value, ...rest]
    if (head.value === 'data') return rest
    const imported = this.#imports.get(head.value)
    return imported?.[0] === 'data' ? [...imported.slice(1), ...rest] : undefined
  }

  /** True for a name that is a whole document, which is too large to show. */
  isDocument(name: string): boolean {
    return this.globals.has(name) && !this.#rules.has(name)
  }
}

function importsOf({ imports }: Pick<SyntaxTree, 'imports'>): Imports {
  return new Map(
    imports.flatMap(({ path, alias }) => {
      const segments = path.type === 'ref' ? path.value.map(segmentText) : []
      const isDocument = DOCUMENTS.includes(segments[0] ?? '')
      return isDocument ? [[alias ?? segments.at(-1) ?? '', segments] as const] : []
    }),
  )
}

/** Returns the variables that a body declares, which hide rules of the same name. */
function declaredIn(parameters: readonly Term[], body: Body): Set<string> {
  const declared = variablesOf(parameters, NO_NAMES)
  for (const { terms } of body) {
    const found =
      isCall(terms) && calledName(terms[0]) === 'assign'
        ? terms.slice(1, 2)
        : isDeclaration(terms)
          ? symbolsOf(terms.symbols)
          : []
    for (const name of variablesOf(found, NO_NAMES)) declared.add(name)
  }
  return declared
}

function symbolsOf(symbols: readonly Term[]): readonly Term[] {
  const [only] = symbols
  return only?.type === 'call' ? only.value.slice(1, -1) : symbols
}

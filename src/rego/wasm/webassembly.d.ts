/** The used WebAssembly interface, which Node's types lack. */
declare namespace WebAssembly {
  type ModuleImports = Record<
    string,
    ((...args: number[]) => number | undefined) | ((...args: number[]) => void) | Memory
  >
  type ExportValue = ((...args: number[]) => number) | Global | Memory
  type Exports = Readonly<Record<string, ExportValue | undefined>>

  class Module {
    constructor(bytes: Uint8Array)
    static exports(module: Module): { readonly name: string }[]
    static imports(module: Module): { readonly name: string }[]
    readonly [Symbol.toStringTag]: string
  }

  class Memory {
    constructor(descriptor: { readonly initial: number; readonly maximum: number })
    readonly buffer: ArrayBuffer
    grow(pages: number): number
  }

  class Global {
    private constructor()
    value: number
  }

  class Instance {
    constructor(module: Module, imports: Readonly<Record<string, ModuleImports>>)
    readonly exports: Exports
  }

  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>
}

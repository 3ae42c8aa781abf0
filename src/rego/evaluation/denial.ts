/** One reason against, and the package (as Rego writes it, without `data`) that gives it. */
export interface Denial {
  readonly packageName: string
  readonly text: string
}

/** What one package says against. */
export interface PackageDenials {
  readonly package: string
  readonly deny: readonly string[]
}

/** The texts, each once though several packages may give it. */
export function textsOf(denials: readonly Denial[]): string[] {
  return [...new Set(denials.map(({ text }) => text))]
}

/** Each package that denies, in the order in which they first do, with all that it says. */
export function denialsByPackage(denials: readonly Denial[]): PackageDenials[] {
  const texts = new Map<string, string[]>()
  for (const { packageName, text } of denials) {
    const known = texts.get(packageName)
    if (known === undefined) texts.set(packageName, [text])
    else known.push(text)
  }
  return [...texts].map(([name, deny]) => ({ package: name, deny }))
}

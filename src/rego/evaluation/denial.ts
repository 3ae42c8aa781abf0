/** A reason against a change, and the package that states it (as in Rego, without `data`). */
export interface Denial {
  readonly packageName: string
  readonly text: string
}

/** A reason that does not deny. */
export interface Warning extends Denial {
  /**
   * Its origin: a `warn` rule, the denial of a package at the level `warn`, or the failure of one of
   * them.
   */
  readonly kind: 'rule' | 'level' | 'error'
}

/** The denials of one package. */
export interface PackageDenials {
  readonly package: string
  readonly deny: readonly string[]
}

/** Returns the texts without duplicates. */
export function textsOf(denials: readonly Denial[]): string[] {
  return [...new Set(denials.map(({ text }) => text))]
}

/** Groups denials by package, in order of first occurrence. */
export function denialsByPackage(denials: readonly Denial[]): PackageDenials[] {
  const texts = new Map<string, string[]>()
  for (const { packageName, text } of denials) {
    const known = texts.get(packageName)
    if (known === undefined) texts.set(packageName, [text])
    else known.push(text)
  }
  return [...texts].map(([name, deny]) => ({ package: name, deny }))
}

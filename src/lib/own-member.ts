/** A member of an object by a name that somebody chose; undefined where it has none of its own: `constructor` is no member of all objects. */
export function ownMember<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const
export const PUBLIC_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512'] as const),
  ...(['ES256', 'ES384', 'ES512'] as const),
  ...(['PS256', 'PS384', 'PS512'] as const),
]

/** The algorithms that bundles may be signed with. Apart from their section, whose schema would bring zod into every command. */
export const BUNDLE_ALGORITHMS: readonly string[] = [...SECRET_ALGORITHMS, ...PUBLIC_ALGORITHMS]

import js from '@eslint/js'
import tseslint from 'typescript-eslint'

const size = {
  'max-lines': ['error', { max: 350 }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
}

export default tseslint.config(
  { ignores: ['dist/', 'dist-bench/', 'node_modules/', 'coverage/', 'data/', 'site/'] },
  js.configs.recommended,
  {
    // Code for browsers.
    files: ['build/site/search.js'],
    languageOptions: { globals: { document: 'readonly', window: 'readonly', matchMedia: 'readonly' } },
  },
  {
    // AssemblyScript has other types than TypeScript and 64-bit integers, so type-aware rules
    // cannot check it.
    files: ['src/**/assembly/**/*.ts'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    rules: { ...size, 'no-loss-of-precision': 'off' },
  },
  {
    files: ['**/*.ts'],
    ignores: ['src/**/assembly/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      ...size,
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator > NewExpression[callee.object.name="Intl"]',
          message:
            'Make it when it is first used: a start would take 10 ms of CPU and 7 MB for what it may never need.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/assembly/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          name: 'node:v8',
          importNames: ['setFlagsFromString'],
          message: 'Flags of V8 change from release to release of Node.js: use a public API.',
        },
      ],
    },
  },
  {
    files: ['src/cli/**/*.ts', 'src/cli.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
)

import './use-full-pipeline.ts'
import '../accounts/limits.test.ts'

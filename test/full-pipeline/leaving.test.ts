import './use-full-pipeline.ts'
import '../payments/leaving.test.ts'

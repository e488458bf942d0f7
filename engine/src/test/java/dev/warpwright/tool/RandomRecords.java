package dev.warpwright.tool;

import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.Annotation;
import java.lang.classfile.Attribute;
import java.lang.classfile.ClassFile;
import java.lang.classfile.Signature;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.RecordAttribute;
import java.lang.classfile.attribute.RecordComponentInfo;
import java.lang.classfile.attribute.RuntimeVisibleAnnotationsAttribute;
import java.lang.classfile.attribute.SignatureAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes record classes at run time, so that a property test can range over types. */
final class RandomRecords {
  private static final AtomicInteger COUNT = new AtomicInteger();

  /**
   * A component to be.
   *
   * @param name its name
   * @param erased its class
   * @param signature its generic type
   * @param notRequired whether it carries the mark
   */
  record Component(String name, ClassDesc erased, Signature signature, boolean notRequired) {}

  private RandomRecords() {}

  /** Defines a package-private record in this package. */
  static Class<?> define(List<Component> components) {
    ClassDesc self =
        ClassDesc.of(RandomRecords.class.getPackageName(), "Random" + COUNT.incrementAndGet());
    MethodTypeDesc constructor =
        MethodTypeDesc.of(CD_void, components.stream().map(Component::erased).toList());
    ClassDesc record = Record.class.describeConstable().orElseThrow();
    byte[] bytes =
        ClassFile.of()
            .build(
                self,
                type -> {
                  type.withFlags(AccessFlag.FINAL, AccessFlag.SUPER).withSuperclass(record);
                  type.with(
                      RecordAttribute.of(components.stream().map(RandomRecords::info).toList()));
                  for (Component component : components) {
                    type.withField(
                        component.name,
                        component.erased,
                        ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
                    type.withMethodBody(
                        component.name,
                        MethodTypeDesc.of(component.erased),
                        ClassFile.ACC_PUBLIC,
                        code ->
                            code.aload(0)
                                .getfield(self, component.name, component.erased)
                                .return_(TypeKind.from(component.erased)));
                  }
                  type.withMethodBody(
                      "<init>",
                      constructor,
                      0,
                      code -> {
                        code.aload(0).invokespecial(record, "<init>", MethodTypeDesc.of(CD_void));
                        for (int i = 0; i < components.size(); i++) {
                          Component component = components.get(i);
                          code.aload(0)
                              .loadLocal(TypeKind.from(component.erased), code.parameterSlot(i))
                              .putfield(self, component.name, component.erased);
                        }
                        code.return_();
                      });
                });
    try {
      return MethodHandles.lookup().defineClass(bytes);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  private static RecordComponentInfo info(Component component) {
    List<Attribute<?>> attributes = new ArrayList<>();
    attributes.add(SignatureAttribute.of(component.signature));
    if (component.notRequired) {
      attributes.add(
          RuntimeVisibleAnnotationsAttribute.of(
              Annotation.of(NotRequired.class.describeConstable().orElseThrow())));
    }
    return RecordComponentInfo.of(component.name, component.erased, attributes);
  }
}
